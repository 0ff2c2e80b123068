import type pg from 'pg';
import type { QueueMail } from '../../accounts/mail/mail-queue.js';
import type { Verifier } from '../../evidence/verification/verifier.js';
import type { EventLog } from '../../pipeline/event-log/port.js';
import type { ServiceLogger } from '../../platform/background/part.js';
import type { Config } from '../../platform/config/index.js';
import type { Keyring } from '../../platform/keys/index.js';
import type { SiteDirectory } from '../../tenancy/directory/site-context.js';
import type { LookUpTxt } from '../../tenancy/domains/verify-site.js';
import type { ScanPage } from '../../tenancy/scans/scan-site.js';
import type { RateLimiter } from '../guards/rate-limiter.js';

/** Dependencies of the panel's handlers. */
export interface PanelRoutesOptions {
  /** Reads: connections in the role `consent_ledger_api`. */
  readonly apiPool: pg.Pool;
  readonly config: Config;
  readonly keyring: Keyring;
  readonly eventLog: EventLog;
  readonly verifier: Verifier;
  readonly logger: ServiceLogger;
  readonly lookUpTxt: LookUpTxt;
  readonly directory: SiteDirectory;
  readonly rateLimiter: RateLimiter;
  readonly scan: ScanPage;
  /** Null: the service sends no mail. */
  readonly queueMail: QueueMail | null;
}
