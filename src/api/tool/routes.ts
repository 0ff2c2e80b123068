import type { Verifier } from '../../evidence/verification/verifier.js';
import type { Admission } from '../../pipeline/admission/admission.js';
import type { TestAdmission } from '../../pipeline/admission/test-admission.js';
import type { EventLog } from '../../pipeline/event-log/port.js';
import type { ServiceLogger } from '../../platform/background/part.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { Keyring } from '../../platform/keys/index.js';
import type { DetectRegion } from '../../platform/regions/detect-region.js';
import type { KeyUsage } from '../../tenancy/api-keys/key-usage.js';
import type { LiveHosts } from '../../tenancy/domains/live-hosts.js';
import type { ScanPage } from '../../tenancy/scans/scan-site.js';
import { FairTurns } from '../guards/fair-turns.js';
import type { RateLimiter } from '../guards/rate-limiter.js';
import { type RecordExportOptions, recordExportRoutes } from './export-consents.js';
import { configRoutes } from './get-config.js';
import { documentRoutes } from './get-documents.js';
import { pingRoutes } from './get-ping.js';
import { statusRoutes } from './get-status.js';
import { verifyRoutes } from './get-verify.js';
import { testEventRoutes } from './list-test-events.js';
import { recordingRoutes } from './record-consents.js';
import type { ToolRoute } from './route.js';
import { s2sErasureRoutes } from './s2s-erasures.js';
import { s2sEvidenceExportRoutes } from './s2s-evidence-exports.js';
import { s2sReceiptRoutes } from './s2s-receipts.js';
import { s2sWebhookRoutes } from './s2s-webhooks.js';
import { scanRoutes } from './scan-page.js';

export interface ToolRoutesOptions {
  /** Connections in the role `consent_ledger_api`. */
  readonly db: Queryable;
  readonly admission: Admission;
  readonly testAdmission: TestAdmission;
  readonly keyring: Keyring;
  readonly eventLog: EventLog;
  /** Origin of the ledger. */
  readonly origin: string;
  readonly verifier: Verifier;
  readonly detectRegion: DetectRegion;
  readonly rateLimiter: RateLimiter;
  readonly liveHosts: LiveHosts;
  readonly keyUsage: KeyUsage;
  readonly scan: ScanPage;
  readonly logger: ServiceLogger;
  readonly onExportError: RecordExportOptions['onError'];
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** Largest body of a submission batch, in bytes. */
  readonly batchBodyBytes: number;
  /** Evidence exports that a tenant may have queued, running or stored. */
  readonly maxExportsPerTenant: number;
  /** Null: unknown. */
  readonly backupRetentionDays: number | null;
}

/** Tenants that read many records at a time, and the time after a turn without one, as a multiple of its length. */
const READERS_AT_A_TIME = 2;
const PAUSE_OF_READERS = 2;

/** Every route of the Tool API. */
export function toolRoutes(options: ToolRoutesOptions): readonly ToolRoute[] {
  const { db, eventLog, admission, keyring, verifier, logger, now } = options;
  // Long lists and exports of one tenant get a third of the main thread, a few milliseconds at a time.
  const turns = new FairTurns({ slots: READERS_AT_A_TIME, now, pause: PAUSE_OF_READERS });
  return [
    ...pingRoutes(),
    ...configRoutes(options),
    ...documentRoutes(db),
    ...statusRoutes({ db, eventLog, keyring, now, turns }),
    ...verifyRoutes(verifier, { db, keyring }),
    ...scanRoutes({ admission, rateLimiter: options.rateLimiter, scan: options.scan }),
    ...recordingRoutes({
      admission,
      testAdmission: options.testAdmission,
      liveHosts: options.liveHosts,
      rateLimiter: options.rateLimiter,
      now,
      batchBodyBytes: options.batchBodyBytes,
    }),
    ...recordExportRoutes({ db, eventLog, keyring, turns, onError: options.onExportError }),
    ...s2sReceiptRoutes({ db, eventLog, keyring, origin: options.origin }),
    ...s2sEvidenceExportRoutes({ db, admission, keyring, logger, maxPerTenant: options.maxExportsPerTenant }),
    ...s2sErasureRoutes({ db, admission, keyring, backupRetentionDays: options.backupRetentionDays }),
    ...s2sWebhookRoutes({ db, admission, rateLimiter: options.rateLimiter }),
    ...testEventRoutes({ db, keyring }),
  ];
}
