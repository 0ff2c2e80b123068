import { FORGED_IN_FORCE } from './forged-validity.js';
import type { Forgery } from './forgery.js';

/**
 * Forgeries that the verifier still calls valid, with the reason. A test fails as soon as one of them
 * is caught: it then belongs to the other forgeries.
 */
export const NOT_YET_CAUGHT: readonly { readonly reason: string; readonly forgeries: readonly Forgery[] }[] = [
  {
    reason: 'the notices are not replayed, and a package need not contain all erasures',
    forgeries: FORGED_IN_FORCE,
  },
];
