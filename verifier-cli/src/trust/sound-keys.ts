import { SIGNATURE_TYPES, type VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { END_OF_CLASSICAL_SIGNATURES } from '../../../schemas/rfc3161/strength.js';

/** Whether the algorithm of a key is sound at a time: Ed25519 has an end, and ML-DSA-44 has none yet. */
export function isSoundKey({ type }: VerifierKey, at: Date): boolean {
  return type === SIGNATURE_TYPES.mlDsa || at.getTime() < END_OF_CLASSICAL_SIGNATURES.getTime();
}
