import { test } from 'vitest';
import { isTried, type Sweep } from './sweeps.js';

/** Returns a function that declares a test which is a case of a sweep. Its time limit is in milliseconds. */
export const caseOf =
  (sweep: Sweep) =>
  (title: string, run: () => void | Promise<void>, timeoutMs?: number): void =>
    test.runIf(isTried(sweep, title))(title, run, timeoutMs);
