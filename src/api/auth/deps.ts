import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import { causedBy, mailCauseOf, type QueueMail } from '../../accounts/mail/mail-queue.js';
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
  /** Null: only invited people become users. */
  readonly createAccount: CreateAccount | null;
  /** Null: the service sends no mail. */
  readonly queueMail: QueueMail | null;
  /** Returns the key from which refresh tokens are derived, 32 bytes. */
  readonly refreshKey: () => Promise<Uint8Array>;
  /** Turns of networks, in which requests by strangers of which mails are queued are worked on. */
  readonly turns: FairScheduler;
}

export const route = routesWith<AuthDeps>();

/**
 * Requests by strangers of which mails are queued, as far as one process works on them at a time: one of each
 * network, so that a network's are counted one by one, and a flood takes few connections to the database. And those
 * that wait.
 */
const QUEUED_AT_A_TIME = 2;
/** Time that a place stays empty afterwards, as a multiple of that of the work: most of a flood is refused for its proof. */
const PAUSE = 2;
const MAX_WAITING = 500;

/** @param now milliseconds of a monotonic clock */
export function networkTurns(now: () => number): FairScheduler {
  return new FairScheduler({ slots: QUEUED_AT_A_TIME, now, pause: PAUSE, maxWaiting: MAX_WAITING });
}

/** The queue for mails that a request causes; null: the service sends no mail. */
export function mailOf(
  { queueMail }: AuthDeps,
  request: Pick<FastifyRequest, 'headers' | 'countedNetwork'>,
): QueueMail | null {
  return causedBy(queueMail, mailCauseOf(request));
}
