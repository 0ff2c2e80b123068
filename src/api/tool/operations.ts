import { FairScheduler } from '../guards/fair-scheduler.js';
import { STATUS_OPERATIONS, type StatusDeps, visitorTurns } from './consent-status.js';
import { type ErasureDeps, S2S_ERASURE_OPERATIONS } from './erasures.js';
import { EVIDENCE_EXPORT_OPERATIONS, type EvidenceExportDeps } from './evidence-exports.js';
import { RECEIPT_OPERATIONS, type ReceiptDeps } from './receipts.js';
import { EXPORT_OPERATIONS, type RecordExportDeps } from './record-export.js';
import { largeBatchTurns, RECORDING_OPERATIONS, type RecordingDeps } from './recording.js';
import { SCAN_OPERATIONS, type ScanDeps } from './scans.js';
import type { ToolRoute } from './serve-tool.js';
import { SITE_OPERATIONS, type SiteDeps } from './site.js';
import { TEST_EVENT_OPERATIONS } from './test-events.js';
import { VERIFY_OPERATIONS, type VerifyDeps } from './verify.js';
import { WEBHOOK_OPERATIONS, type WebhookDeps } from './webhooks.js';

/** Dependencies of the handlers of the Tool API. `db` is in the role `consent_ledger_api`. */
export type ToolDeps = SiteDeps &
  StatusDeps &
  VerifyDeps &
  ScanDeps &
  RecordingDeps &
  RecordExportDeps &
  ReceiptDeps &
  EvidenceExportDeps &
  ErasureDeps &
  WebhookDeps;

/** Every operation of the Tool API, in the order of its OpenAPI document. */
export const TOOL_OPERATIONS: readonly ToolRoute<ToolDeps>[] = [
  ...SITE_OPERATIONS,
  ...STATUS_OPERATIONS,
  ...VERIFY_OPERATIONS,
  ...SCAN_OPERATIONS,
  ...RECORDING_OPERATIONS,
  ...EXPORT_OPERATIONS,
  ...RECEIPT_OPERATIONS,
  ...EVIDENCE_EXPORT_OPERATIONS,
  ...S2S_ERASURE_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...TEST_EVENT_OPERATIONS,
];

type Turns = Pick<ToolDeps, 'turns' | 'visitors' | 'largeBatches'>;

/** Tenants that may read many records at the same time, and the pause after each turn, as a multiple of its length. */
const READERS_AT_A_TIME = 2;
const PAUSE_OF_READERS = 2;

/**
 * Creates the schedulers of the requests of the Tool API.
 * @param now milliseconds of a monotonic clock
 */
export function toolTurns(now: () => number): Turns {
  return {
    // Long lists and exports of one tenant get at most a third of the main thread, a few milliseconds at a time.
    turns: new FairScheduler({ slots: READERS_AT_A_TIME, now, pause: PAUSE_OF_READERS }),
    visitors: visitorTurns(now),
    largeBatches: largeBatchTurns(now),
  };
}
