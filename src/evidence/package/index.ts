export { ExportFailed } from './errors.js';
export {
  type ExportOptions,
  type ExportProgress,
  type ExportResult,
  exportEvidence,
  type PackageRequest,
  streamEvidence,
} from './export-evidence.js';
export type { Disclose, ExportFilter } from './filter.js';
export { ensureManifestCertificate } from './manifest-files.js';
export { refuseExisting } from './package-writer.js';
export { type ReleasedVerifier, releasedVerifier, verifierFile } from './readme-facts.js';
export { makeReceipt, type ReceiptResult } from './receipt.js';
export { waitUntilStamped } from './stamping-state.js';
