import { FORGED_LATE_TIMES } from './forged-times.js';
import { FORGED_IN_FORCE } from './forged-validity.js';
import type { Forgery } from './forgery.js';

/**
 * Forgeries that the verifier still calls valid, with the reason. A test fails as soon as one of them
 * is caught: it then belongs to the other forgeries.
 */
export const NOT_YET_CAUGHT: readonly { readonly reason: string; readonly forgeries: readonly Forgery[] }[] = [
  {
    reason: 'the ledger has no policy with its longest delays, and the age of a package is not evaluated',
    forgeries: FORGED_LATE_TIMES,
  },
  {
    reason: 'the notices are not replayed, and a package need not contain all erasures',
    forgeries: FORGED_IN_FORCE,
  },
];
