import { fromHex } from '../crypto/encoding.js';
import { verifyInclusion } from '../merkle/verify-inclusion.js';
import {
  type PromisedRecord,
  parsePromiseKeyText,
  parsePromisesRootText,
  parsePromiseText,
  promiseLeaf,
  type SignedPromise,
} from './promise.js';
import { noteKeyId, parseNote, SIGNATURE_TYPES, type VerifierKey, verifyEd25519Note } from './signed-note.js';

/** Whether a promise is genuine. */
export type PromiseVerdict =
  | { readonly outcome: 'genuine'; readonly promised: PromisedRecord }
  /** The promise is consistent, but no given key certifies it. */
  | { readonly outcome: 'unknown-key'; readonly promised: PromisedRecord; readonly reason: string }
  | { readonly outcome: 'forged'; readonly reason: string };

/**
 * Verifies a promise: its text, its path to the signed root, the signature of the promise key over the root, and the
 * certificate of this key by the ledger's key. Never throws, because every input may be hostile.
 * @param keys keys of the ledger, trusted by the relying party; only those of Ed25519 certify promises
 */
export async function verifyPromise(promise: SignedPromise, keys: readonly VerifierKey[]): Promise<PromiseVerdict> {
  const forged = (reason: string): PromiseVerdict => ({ outcome: 'forged', reason });
  const promised = parsePromiseText(promise.text);
  if (promised === null) return forged('the text is not a promise');
  const { origin } = promised;

  const rootNote = parseNote(promise.signed_root);
  const root = rootNote === null ? null : parsePromisesRootText(rootNote.text);
  if (rootNote === null || root === null) return forged('the signed root is malformed');
  if (root.origin !== origin) return forged('the signed root is of another ledger');
  if (root.size !== promise.size) return forged('the signed root is over another number of promises');
  const path = promise.path.map((hash) => fromHex(hash) ?? new Uint8Array());
  const place = verifyInclusion(promise.index, promise.size, promiseLeaf(promise.text), path, root.root);
  if (!place.ok) return forged(`the promise is not among the signed ones: ${place.reason}`);

  const certificate = parseNote(promise.certificate);
  const certified = certificate === null ? null : parsePromiseKeyText(certificate.text);
  if (certificate === null || certified === null) return forged('the certificate of the promise key is malformed');
  if (certified.origin !== origin) return forged('the certificate was issued by another ledger');
  const { publicKey } = certified;
  const type = SIGNATURE_TYPES.ed25519;
  const promiseKey: VerifierKey = { name: origin, keyId: noteKeyId(origin, publicKey), publicKey, type };
  if ((await verifyEd25519Note(rootNote, promiseKey)) !== 'signed')
    return forged('the certified promise key did not sign the root');

  const own = keys.filter((key) => key.name === origin && key.type === type);
  const verdicts = await Promise.all(own.map((key) => verifyEd25519Note(certificate, key)));
  if (verdicts.includes('bad-signature')) return forged("the ledger's signature on the certificate is invalid");
  if (verdicts.includes('signed')) return { outcome: 'genuine', promised };
  const reason =
    own.length === 0
      ? `no Ed25519 key of the ledger “${origin}” was given`
      : 'the ledger key that you gave did not sign the certificate: it may be an older or newer key of this ledger';
  return { outcome: 'unknown-key', promised, reason };
}
