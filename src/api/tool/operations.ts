import type { Operation } from '../server/operation.js';
import { S2S_ERASURE_OPERATIONS } from './operations/erasures.js';
import { EVIDENCE_EXPORT_OPERATIONS } from './operations/evidence-exports.js';
import { READING_OPERATIONS } from './operations/reading.js';
import { RECEIPT_OPERATIONS } from './operations/receipts.js';
import { RECORDING_OPERATIONS } from './operations/recording.js';
import { SCAN_OPERATIONS } from './operations/scans.js';
import { listTestEvents } from './operations/test-events.js';
import { WEBHOOK_OPERATIONS } from './operations/webhooks.js';

/** Every operation of the Tool API, in the order of its OpenAPI document. */
export const TOOL_OPERATIONS: readonly Operation[] = [
  ...READING_OPERATIONS,
  ...SCAN_OPERATIONS,
  ...RECORDING_OPERATIONS,
  ...RECEIPT_OPERATIONS,
  ...EVIDENCE_EXPORT_OPERATIONS,
  ...S2S_ERASURE_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  listTestEvents,
];
