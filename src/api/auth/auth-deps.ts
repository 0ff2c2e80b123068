import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import { causedBy, mailCauseOf, type QueueMail } from '../../accounts/mail/mail-queue.js';
import type { FactorKeys } from '../../accounts/second-factor/factor-secrets.js';
import type { CheckPassword } from '../../accounts/sign-in/check-password.js';
import type { WantedAccount } from '../../accounts/sign-up/request-sign-up.js';
import type { RowSeals } from '../../platform/keys/index.js';
import type { ApiUsers } from '../guards/bearer.js';
import type { RateLimiter } from '../guards/rate-limiter.js';
import type { GrantedTokens } from './tokens-response.js';

/**
 * Creates the organisation and the owner of a sign-up, and signs the owner in.
 * @returns null if the address has a user
 * @throws ApiError TENANT_LIMIT_EXCEEDED
 */
export type CreateAccount = (wanted: WantedAccount, password: string) => Promise<GrantedTokens | null>;

/** Dependencies of the sign-in routes. */
export interface AuthRouteOptions extends ApiUsers {
  readonly checkPassword: CheckPassword;
  readonly rateLimiter: RateLimiter;
  /** Connections in the role `consent_ledger_api`. */
  readonly apiPool: pg.Pool;
  /** Connections in the role `consent_ledger_admin`, for changes of users. */
  readonly adminPool: pg.Pool;
  readonly seals: RowSeals;
  readonly factorKeys: FactorKeys;
  /** Null: only invited people become users. */
  readonly createAccount: CreateAccount | null;
  /** Null: the service sends no mail. */
  readonly queueMail: QueueMail | null;
  /** Returns the key from which refresh tokens are derived, 32 bytes. */
  readonly refreshKey: () => Promise<Uint8Array>;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

/** The queue for mails that a request causes; null: the service sends no mail. */
export function mailOf(
  { queueMail }: AuthRouteOptions,
  request: Pick<FastifyRequest, 'headers' | 'countedNetwork'>,
): QueueMail | null {
  return causedBy(queueMail, mailCauseOf(request));
}
