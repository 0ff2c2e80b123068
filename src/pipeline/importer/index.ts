export {
  type CheckedFile,
  ConfigurationChanged,
  checkFile,
  FileChanged,
  type Importing,
  type ImportTotals,
  importFile,
} from './import-file.js';
export { InvalidMapping, parseMapping } from './mapping.js';
export { PRESETS, type PresetName } from './presets.js';
export { UnreadableFile } from './read-rows.js';
export { publishedVersions } from './versions.js';
export { OutboxFull, waitForRoom } from './wait-for-room.js';
