import type { CurrentUser } from './types.js';

/** `starting`: it is not known yet whether the browser has a sign-in. */
export type Session =
  | { readonly status: 'starting' | 'signed-out' }
  | { readonly status: 'signed-in'; readonly user: CurrentUser };

interface Access {
  readonly token: string;
  /** Of `performance.now()`, in milliseconds. */
  readonly renewAt: number;
}

/** What a sign-in and a renewal return. The refresh token is in a cookie that scripts cannot read. */
interface Tokens {
  readonly access_token: string;
  readonly expires_in: number;
  readonly user: CurrentUser;
}

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
  #renewing: Promise<boolean> | null = null;
  readonly #listeners = new Set<() => void>();

  get session(): Session {
    return this.#session;
  }

  /** Calls a listener after every change. @returns a function that ends this */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes the tokens of a sign-in. */
  begin({ access_token, expires_in, user }: Tokens): void {
    this.#access = { token: access_token, renewAt: performance.now() + (expires_in - EARLY_SECONDS) * 1000 };
    this.#change({ status: 'signed-in', user });
  }

  end(): void {
    this.#access = null;
    this.#change({ status: 'signed-out' });
  }

  /** Continues the sign-in that the browser has a cookie of. */
  async resume(): Promise<void> {
    if (!(await this.#renew())) this.end();
  }

  /**
   * Sends a request with the access token, and once more after a renewal if the service no longer
   * accepts the token. Ends the session if it cannot be renewed.
   */
  async send(request: Request): Promise<Response> {
    if (this.#access === null) return fetch(request);
    if (performance.now() > this.#access.renewAt) await this.#renew();
    const again = request.clone();
    const response = await this.#sendOnce(request);
    if (response.status !== 401) return response;
    if (await this.#renew()) return this.#sendOnce(again);
    this.end();
    return response;
  }

  #sendOnce(request: Request): Promise<Response> {
    if (this.#access !== null) request.headers.set('authorization', `Bearer ${this.#access.token}`);
    return fetch(request);
  }

  /** Renews once for all requests that wait. @returns whether the session has a new access token */
  #renew(): Promise<boolean> {
    this.#renewing ??= exclusively(() => this.#renewNow()).finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  async #renewNow(): Promise<boolean> {
    const response = await fetch(REFRESH, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ refresh_token_in: 'cookie' }),
    });
    if (!response.ok) return false;
    const { data }: { data: Tokens } = await response.json();
    this.begin(data);
    return true;
  }

  #change(session: Session): void {
    this.#session = session;
    for (const listener of this.#listeners) listener();
  }
}

/** One tab of the browser renews at a time, because a refresh token is valid for one use. */
function exclusively<T>(work: () => Promise<T>): Promise<T> {
  return navigator.locks === undefined ? work() : navigator.locks.request('consent-ledger-renewal', work);
}
