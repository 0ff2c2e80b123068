import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import { causedBy, mailCauseOf, type QueueMail } from '../../accounts/mail/mail-queue.js';
import type { RelyingParty } from '../../accounts/passkeys/relying-party.js';
import type { FactorKeys } from '../../accounts/second-factor/factor-secrets.js';
import type { CheckPassword } from '../../accounts/sign-in/check-password.js';
import type { WantedAccount } from '../../accounts/sign-up/request-sign-up.js';
import type { RowSeals } from '../../platform/keys/index.js';
import type { ApiUsers } from '../guards/bearer.js';
import { FairScheduler } from '../guards/fair-scheduler.js';
import type { RateLimiter } from '../guards/rate-limiter.js';
import { routesWith } from '../server/route.js';
import type { GrantedTokens } from './tokens.js';

/**
 * Creates the organisation and the owner of a sign-up, and signs the owner in.
 * @returns null if the address has a user
 * @throws ApiError TENANT_LIMIT_EXCEEDED
 */
export type CreateAccount = (wanted: WantedAccount, password: string) => Promise<GrantedTokens | null>;

/** Dependencies of the handlers of sign-in. */
export interface AuthDeps extends ApiUsers {
  readonly checkPassword: CheckPassword;
  readonly rateLimiter: RateLimiter;
  /** Connections in the role `consent_ledger_api`. */
  readonly apiPool: pg.Pool;
  /** Connections in the role `consent_ledger_admin`, for changes of users. */
  readonly adminPool: pg.Pool;
  readonly seals: RowSeals;
  readonly factorKeys: FactorKeys;
  /** Null if this installation has no passkeys. */
  readonly relyingParty: RelyingParty | null;
  /** Null if only invited people become users. */
  readonly createAccount: CreateAccount | null;
  /** Null if the service sends no mail. */
  readonly queueMail: QueueMail | null;
  /** Returns the key from which refresh tokens are derived, 32 bytes. */
  readonly refreshKey: () => Promise<Uint8Array>;
  /** Schedules the unauthenticated requests that queue mails, network by network. */
  readonly turns: FairScheduler;
}

export const route = routesWith<AuthDeps>();

/**
 * Unauthenticated requests that queue mails: how many one process handles at a time, and how many may wait. At most one
 * of each network is handled at a time, so that they are counted individually and a flood takes few database
 * connections.
 */
const QUEUED_AT_A_TIME = 2;
/**
 * Time that a slot stays empty after each request, as a multiple of the time it took. Most requests of a flood lack a
 * valid proof of work and are refused.
 */
const PAUSE = 2;
const MAX_WAITING = 500;

/** @param now milliseconds of a monotonic clock */
export function networkTurns(now: () => number): FairScheduler {
  return new FairScheduler({ slots: QUEUED_AT_A_TIME, now, pause: PAUSE, maxWaiting: MAX_WAITING });
}

/** Returns the queue for the mails that a request causes, or null if the service sends no mail. */
export function mailOf(
  { queueMail }: AuthDeps,
  request: Pick<FastifyRequest, 'headers' | 'countedNetwork'>,
): QueueMail | null {
  return causedBy(queueMail, mailCauseOf(request));
}
