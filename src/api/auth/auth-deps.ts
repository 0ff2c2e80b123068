import type pg from 'pg';
import type { QueueMail } from '../../accounts/mail/mail-queue.js';
import type { FactorKeys } from '../../accounts/second-factor/factor-secrets.js';
import type { CheckPassword } from '../../accounts/sign-in/check-password.js';
import type { RowSeals } from '../../platform/keys/index.js';
import type { ApiUsers } from '../guards/bearer.js';
import type { RateLimiter } from '../guards/rate-limiter.js';

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
  /** Null: the service sends no mail. */
  readonly queueMail: QueueMail | null;
  /** Returns the key from which refresh tokens are derived, 32 bytes. */
  readonly refreshKey: () => Promise<Uint8Array>;
}
