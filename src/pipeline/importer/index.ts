export {
  type CheckedFile,
  ConfigurationChanged,
  checkFile,
  FileChanged,
  type Importing,
  type ImportTotals,
  importFile,
} from './import-file.js';
export { InvalidMapping, PRESETS, type PresetName, parseMapping } from './mapping.js';
export { UnreadableFile } from './read-rows.js';
export { publishedVersions } from './versions.js';
export { OutboxFull, waitForRoom } from './write-imports.js';
