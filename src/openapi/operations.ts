import { AUTH_OPERATIONS } from './auth-operations.js';
import { ERASURE_OPERATIONS } from './erasure-operations.js';
import { OPEN_OPERATIONS } from './open-operations.js';
import type { Operation } from './operation.js';
import { READING_OPERATIONS } from './reading-operations.js';
import { RECORDING_OPERATIONS } from './recording-operations.js';

/** Every route that the description covers: the Tool API, public verify and sign-in. */
export const OPERATIONS: readonly Operation[] = [
  ...READING_OPERATIONS,
  ...RECORDING_OPERATIONS,
  ...ERASURE_OPERATIONS,
  ...OPEN_OPERATIONS,
  ...AUTH_OPERATIONS,
];
