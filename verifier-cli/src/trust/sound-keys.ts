import { SIGNATURE_TYPES, type VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { END_OF_CLASSICAL_SIGNATURES } from '../../../schemas/rfc3161/strength.js';

/** Returns whether the algorithm of a key is secure at a time. Ed25519 has an end date; ML-DSA-44 has none yet. */
export function isSoundKey({ type }: VerifierKey, at: Date): boolean {
  return type === SIGNATURE_TYPES.mlDsa || at.getTime() < END_OF_CLASSICAL_SIGNATURES.getTime();
}
