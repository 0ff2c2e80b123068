import { SignInsEndedResponse, TokensResponse } from '../../../schemas/api/auth.js';
import { ServiceError } from '../../shared/service-error.js';
import type { Credentials } from '../../shared/types.js';
import type { BearerSource, Transport } from './transport.js';

/** An access token is renewed this long before it expires. */
const MARGIN_MS = 60_000;

interface Tokens {
  readonly access: string;
  readonly refresh: string;
  /** Milliseconds of the monotonic clock. */
  readonly renewAt: number;
}

/**
 * A sign-in that renews itself. A refresh token is valid once, so concurrent requests share one renewal, and each
 * process has its own sign-in.
 */
export class SignIn implements BearerSource {
  readonly #transport: Transport;
  readonly #user: Credentials;
  #tokens: Tokens | null = null;
  #pending: Promise<Tokens> | null = null;

  constructor(transport: Transport, user: Credentials) {
    this.#transport = transport;
    this.#user = user;
  }

  /** @throws ServiceError `INVALID_CREDENTIALS` and others */
  async token(): Promise<string> {
    if (this.#tokens !== null && performance.now() < this.#tokens.renewAt) return this.#tokens.access;
    this.#pending ??= this.#renew().finally(() => {
      this.#pending = null;
    });
    return (await this.#pending).access;
  }

  discard(token: string): void {
    if (this.#tokens?.access === token) this.#tokens = { ...this.#tokens, renewAt: 0 };
  }

  /** Ends the sign-in at the service, if there is one. @throws ServiceError */
  async end(): Promise<void> {
    const tokens = this.#tokens;
    this.#tokens = null;
    if (tokens === null) return;
    const bearer = { token: async () => tokens.access, discard: () => undefined };
    await this.#transport.send(
      { method: 'POST', path: '/api/v1/auth/logout', content: {}, bearer, hasKey: false },
      (body) => SignInsEndedResponse.parse(body),
    );
  }

  async #renew(): Promise<Tokens> {
    const refresh = this.#tokens?.refresh;
    this.#tokens = await (refresh === undefined ? this.#login() : this.#refresh(refresh));
    return this.#tokens;
  }

  async #refresh(token: string): Promise<Tokens> {
    try {
      return await this.#ask('refresh', { refresh_token: token });
    } catch (error) {
      // The token expired, or its response was lost and an attempt used it twice.
      if (error instanceof ServiceError && error.status === 401) return this.#login();
      throw error;
    }
  }

  #login(): Promise<Tokens> {
    return this.#ask('login', this.#user);
  }

  #ask(operation: 'login' | 'refresh', content: object): Promise<Tokens> {
    return this.#transport.send(
      { method: 'POST', path: `/api/v1/auth/${operation}`, content, hasKey: false },
      (body) => {
        const { access_token, refresh_token, expires_in } = TokensResponse.parse(body).data;
        const renewAt = performance.now() + expires_in * 1000 - MARGIN_MS;
        return { access: access_token, refresh: refresh_token, renewAt };
      },
    );
  }
}
