import { AUTH_OPERATIONS } from './auth-operations.js';
import { ERASURE_OPERATIONS } from './erasure-operations.js';
import { EXPORT_DOWNLOADS, EXPORT_OPERATIONS } from './export-operations.js';
import { OPEN_OPERATIONS } from './open-operations.js';
import type { Download, Operation } from './operation.js';
import { READING_OPERATIONS } from './reading-operations.js';
import { RECORDING_OPERATIONS } from './recording-operations.js';

/** Every route that the description covers: the Tool API, public verify and sign-in. */
export const OPERATIONS: readonly Operation[] = [
  ...READING_OPERATIONS,
  ...RECORDING_OPERATIONS,
  ...EXPORT_OPERATIONS,
  ...ERASURE_OPERATIONS,
  ...OPEN_OPERATIONS,
  ...AUTH_OPERATIONS,
];

/** Those that are answered with a file. */
export const DOWNLOADS: readonly Download[] = EXPORT_DOWNLOADS;
