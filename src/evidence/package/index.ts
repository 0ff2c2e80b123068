export { ExportFailed, type ExportProblem } from './errors.js';
export {
  type ExportOptions,
  type ExportProgress,
  type ExportRequest,
  type ExportResult,
  exportEvidence,
  type PackageRequest,
  type PackageResult,
  streamEvidence,
} from './export-evidence.js';
export type { Disclose, ExportFilter } from './filter.js';
export { ensureManifestCertificate, type ManifestCertificateOptions } from './manifest-certificate.js';
export { refuseExisting } from './package-writer.js';
export { waitUntilStamped } from './wait-until-stamped.js';
