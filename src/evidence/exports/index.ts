export {
  type CreateExportOptions,
  createExport,
  type ExportAuthor,
} from './create-export.js';
export { auditDetails, exportFilter } from './export-filter.js';
export type { ExportId } from './export-job.js';
export { shownExport } from './export-job.js';
export { createExporter, type ExporterOptions } from './exporter-part.js';
export { cancelExport, deleteExport, listExports, readExport } from './exports.js';
export { type ByteRange, findPackage, type KeptPackage, readPackage } from './read-package.js';
