export {
  type CreateExportOptions,
  createExport,
} from './create-export.js';
export { auditDetails, exportFilter } from './export-filter.js';
export type { ExportId } from './export-job.js';
export { shownExport } from './export-job.js';
export { ExportUnreadable } from './export-key.js';
export { createExporter } from './exporter-part.js';
export { cancelExport, deleteExport, listExports, readExport } from './exports.js';
export { findPackage, readPackage } from './read-package.js';
