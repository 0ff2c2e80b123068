import type { Verdict } from '../findings/verdict.js';

/** Wrong usage, or a file that cannot be opened as a ZIP with a manifest. */
export const EXIT_USAGE = 2;

/** Exit codes by verdict. */
export const EXIT_CODES: Readonly<Record<Verdict, number>> = { valid: 0, invalid: 1, indeterminate: 3 };
