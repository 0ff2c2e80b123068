export { auditDetails, type CreateExportOptions, createExport, exportFilter } from './create-export.js';
export { ExportUnreadable } from './export-key.js';
export { createExporter } from './exporter-part.js';
export { cancelExport, deleteExport, type ExportId, listExports, readExport, shownExport } from './exports.js';
export { findPackage, readPackage } from './read-package.js';
