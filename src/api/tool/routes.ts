import type { Verifier } from '../../evidence/verification/verifier.js';
import type { Admission } from '../../pipeline/admission/admission.js';
import type { EventLog } from '../../pipeline/event-log/port.js';
import type { ServiceLogger } from '../../platform/background/part.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { Keyring } from '../../platform/keys/index.js';
import type { DetectRegion } from '../../platform/regions/detect-region.js';
import type { ScanPage } from '../../tenancy/scans/scan-site.js';
import type { RateLimiter } from '../guards/rate-limiter.js';
import { type RecordExportOptions, recordExportRoutes } from './export-consents.js';
import { configRoutes } from './get-config.js';
import { documentRoutes } from './get-documents.js';
import { pingRoutes } from './get-ping.js';
import { statusRoutes } from './get-status.js';
import { verifyRoutes } from './get-verify.js';
import { recordingRoutes } from './record-consents.js';
import type { ToolRoute } from './route.js';
import { s2sErasureRoutes } from './s2s-erasures.js';
import { s2sEvidenceExportRoutes } from './s2s-evidence-exports.js';
import { s2sReceiptRoutes } from './s2s-receipts.js';
import { scanRoutes } from './scan-page.js';

export interface ToolRoutesOptions {
  /** Connections in the role `consent_ledger_api`. */
  readonly db: Queryable;
  readonly admission: Admission;
  readonly keyring: Keyring;
  readonly eventLog: EventLog;
  /** Origin of the ledger. */
  readonly origin: string;
  readonly verifier: Verifier;
  readonly detectRegion: DetectRegion;
  readonly rateLimiter: RateLimiter;
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

/** Every route of the Tool API. */
export function toolRoutes(options: ToolRoutesOptions): readonly ToolRoute[] {
  const { db, admission, keyring, verifier, logger } = options;
  return [
    ...pingRoutes(),
    ...configRoutes(options.detectRegion),
    ...documentRoutes(db),
    ...statusRoutes({ db, eventLog: options.eventLog, keyring, now: options.now }),
    ...verifyRoutes(verifier),
    ...scanRoutes({ admission, rateLimiter: options.rateLimiter, scan: options.scan }),
    ...recordingRoutes({
      admission,
      rateLimiter: options.rateLimiter,
      now: options.now,
      batchBodyBytes: options.batchBodyBytes,
    }),
    ...recordExportRoutes({ db, eventLog: options.eventLog, keyring, onError: options.onExportError }),
    ...s2sReceiptRoutes({ db, eventLog: options.eventLog, keyring, origin: options.origin }),
    ...s2sEvidenceExportRoutes({ db, admission, keyring, logger, maxPerTenant: options.maxExportsPerTenant }),
    ...s2sErasureRoutes({ db, admission, keyring, backupRetentionDays: options.backupRetentionDays }),
  ];
}
