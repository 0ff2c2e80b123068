import { utf8 } from '../crypto/encoding.js';
import { verifyMlDsa44 } from '../crypto/ml-dsa.js';
import { isSubtreeSigned, readTimedSignature } from './cosignature.js';
import { mlDsaTextKeyId } from './ml-dsa-text.js';
import {
  linesOf,
  type NoteVerdict,
  SIGNATURE_TYPES,
  type SignedNote,
  type VerifierKey,
  verdictOf,
  verifyEd25519Note,
} from './signed-note.js';

/** Looks for a signature of a key over the whole text of a note, as `verifyEd25519Note`. */
export async function verifyNote(note: SignedNote, key: VerifierKey): Promise<NoteVerdict> {
  const { name, publicKey } = key;
  if (key.type !== SIGNATURE_TYPES.mlDsa) return verifyEd25519Note(note, key);
  const message = utf8(note.text);
  return verdictOf(linesOf(note, name, mlDsaTextKeyId(name, publicKey)), async ({ signature }) =>
    verifyMlDsa44(publicKey, message, signature),
  );
}

/**
 * Looks for a signature of a key of the ledger over a checkpoint, as `verifyEd25519Note`. A signature with ML-DSA-44
 * covers origin, size and root: the whole text of this format (c2sp.org/tlog-cosignature). It states no time, because
 * only a witness does that.
 */
export async function verifyCheckpoint(note: SignedNote, key: VerifierKey): Promise<NoteVerdict> {
  if (key.type !== SIGNATURE_TYPES.mlDsa) return verifyEd25519Note(note, key);
  return verdictOf(linesOf(note, key.name, key.keyId), async ({ signature }) => {
    const timed = readTimedSignature(signature);
    return timed !== null && timed.seconds === 0n && isSubtreeSigned(note.text, key, timed);
  });
}
