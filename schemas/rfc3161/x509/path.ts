import type { Certificate } from './certificate.js';

/**
 * A chain, from the signer's certificate (first) to the trust anchor (last). Signatures are
 * verified already.
 */
export type Path = readonly Certificate[];

/** Violation of a rule by a path: `fail` certainly invalidates the path, `unsure` leaves it undecided. */
export interface Violation {
  readonly severity: 'fail' | 'unsure';
  readonly message: string;
}
