import type pg from 'pg';
import type { RateLimiter } from '../../../admission/rate-limiter.js';
import type { CheckPassword } from '../../../sign-in/check-password.js';
import type { ApiUsers } from '../../guards/bearer.js';

/** What the routes of sign-in work with. */
export interface AuthRouteDeps extends ApiUsers {
  readonly checkPassword: CheckPassword;
  readonly rateLimiter: RateLimiter;
  /** Connections in the role `consent_ledger_api`. */
  readonly apiPool: pg.Pool;
  /** Connections in the role `consent_ledger_admin`: for what changes users. */
  readonly adminPool: pg.Pool;
}

/** Bytes of a body. */
export const AUTH_BODY_LIMIT = 4096;
