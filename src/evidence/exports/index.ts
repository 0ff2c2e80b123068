export {
  type CreateExportParts,
  createExport,
  type ExportAuthor,
} from './create-export.js';
export { auditDetails, exportFilter } from './export-filter.js';
export { shownExport } from './export-job.js';
export { createExporter, type ExporterOptions } from './exporter-part.js';
export { cancelExport, deleteExport, type ExportId, listExports, readExport } from './exports.js';
export { findPackage } from './read-package.js';
export { PACKAGE_MEDIA_TYPE, type SendPackageParts, sendPackage } from './send-package.js';
