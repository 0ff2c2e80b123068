import type { CurrentUser } from './types.js';

/** `starting`: it is not known yet whether the browser has a sign-in. */
export type Session =
  | { readonly status: 'starting' | 'signed-out' }
  | { readonly status: 'signed-in'; readonly user: CurrentUser };

interface Access {
  readonly token: string;
  /** Time by `performance.now()`, in milliseconds. */
  readonly renewAt: number;
}

/** Response to a sign-in or a renewal. The refresh token is in a cookie that scripts cannot read. */
interface Tokens {
  readonly access_token: string;
  readonly expires_in: number;
  readonly user: CurrentUser;
}

/** Whether this browser has a sign-in, as far as the page knows. The mark is no secret and permits nothing. */
export interface SignInMark {
  isSet(): boolean;
  set(): void;
  remove(): void;
}

type Exclusively = <T>(work: () => Promise<T>) => Promise<T>;

/** `other-user`: the sign-in of the browser belongs to another user than that of this tab. */
type Renewal = 'renewed' | 'refused' | 'other-user';

/** An access token is renewed this long before it expires. */
const EARLY_SECONDS = 60;
const REFRESH = '/api/v1/auth/refresh';

/**
 * The sign-in of this tab. The access token lives in memory only; the refresh token is in a cookie
 * that the service sets, so that no script can read it.
 */
export class SessionStore {
  #session: Session = { status: 'starting' };
  #access: Access | null = null;
  /** Whether another user has signed in in this browser. */
  #isOver = false;
  #renewing: Promise<Renewal> | null = null;
  #holds: () => boolean = () => false;
  readonly #listeners = new Set<() => void>();
  readonly #startAnew: () => void;
  readonly #exclusively: Exclusively;
  readonly #mark: SignInMark;

  /**
   * @param startAnew loads the page again. Called when the cookie, which the tabs of a browser share, turns out to
   *   belong to another user who signed in in another tab
   * @param exclusively runs a renewal while no other tab renews
   * @param mark says whether the browser has a sign-in, so that a page without one asks for none
   */
  constructor(startAnew: () => void, exclusively: Exclusively, mark: SignInMark) {
    this.#startAnew = startAnew;
    this.#exclusively = exclusively;
    this.#mark = mark;
  }

  get session(): Session {
    return this.#session;
  }

  /** Calls a listener after every change. @returns a function that stops this */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Keeps the page of a sign-in that has ended while it holds what the user would lose. @param holds whether it does */
  keepWhile(holds: () => boolean): void {
    this.#holds = holds;
  }

  /** Takes the tokens of a sign-in. Another user's session ends first, with what that user read. */
  begin({ access_token, expires_in, user }: Tokens): void {
    if (this.#isOther(user)) this.end();
    this.#mark.set();
    this.#access = { token: access_token, renewAt: performance.now() + (expires_in - EARLY_SECONDS) * 1000 };
    this.#change({ status: 'signed-in', user });
  }

  /** Ends the sign-in, which the user or the service ended. */
  end(): void {
    this.#mark.remove();
    this.#leave();
  }

  /** Resumes the sign-in for which the browser has a cookie. Without a mark there is none to ask for. */
  async resume(): Promise<void> {
    if (!this.#mark.isSet() || (await this.#renew()) === 'refused') this.#leave();
  }

  /** Ends the session of this tab. */
  #leave(): void {
    this.#access = null;
    this.#change({ status: 'signed-out' });
  }

  /**
   * Sends a request with the access token, and once more after a renewal if the service no longer accepts the token.
   * Ends the session if it cannot be renewed, unless the user would lose what the page holds, or what this request was to
   * save: the user may sign in in another tab, and the next request then goes on. Once the sign-in belongs to another user, requests are neither sent nor
   * answered, because the page is about to reload.
   */
  async send(request: Request): Promise<Response> {
    if (this.#isOver) return unanswered();
    if (this.#access === null) return fetch(request);
    if (performance.now() > this.#access.renewAt && (await this.#renew()) === 'other-user') return unanswered();
    const again = request.clone();
    const response = await this.#sendOnce(request);
    if (response.status !== 401) return response;
    const renewal = await this.#renew();
    if (renewal === 'renewed') return this.#sendOnce(again);
    if (renewal === 'other-user') return unanswered();
    if (request.method === 'GET' && !this.#holds()) this.#leave();
    return response;
  }

  #sendOnce(request: Request): Promise<Response> {
    if (this.#access !== null) request.headers.set('authorization', `Bearer ${this.#access.token}`);
    return fetch(request);
  }

  /** Renews once for all waiting requests. */
  #renew(): Promise<Renewal> {
    this.#renewing ??= this.#exclusively(() => this.#renewNow()).finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  async #renewNow(): Promise<Renewal> {
    const response = await fetch(REFRESH, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ refresh_token_in: 'cookie' }),
    });
    // A service that fails or is busy says nothing about the sign-in.
    if (response.status === 401) this.#mark.remove();
    if (!response.ok) return 'refused';
    const { data } = (await response.json()) as { readonly data: Tokens };
    if (this.#isOther(data.user)) {
      this.#access = null;
      this.#isOver = true;
      this.#change({ status: 'starting' });
      this.#startAnew();
      return 'other-user';
    }
    this.begin(data);
    return 'renewed';
  }

  #isOther(user: CurrentUser): boolean {
    return this.#session.status === 'signed-in' && this.#session.user.id !== user.id;
  }

  #change(session: Session): void {
    this.#session = session;
    for (const listener of this.#listeners) listener();
  }
}

function unanswered(): Promise<never> {
  return new Promise(() => undefined);
}
