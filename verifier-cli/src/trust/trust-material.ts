import { decodeUtf8, fromBase64, toHex } from '../../../schemas/crypto/encoding.js';
import { parseWitnessKey } from '../../../schemas/evidence/cosignature.js';
import { parseVerifierKey, type VerifierKey } from '../../../schemas/evidence/signed-note.js';

/** Labels of PEM blocks that hold a certificate. */
export const CERTIFICATE_LABEL = /^(?:TRUSTED |X509 )?CERTIFICATE$/;

/**
 * Returns the DER values in a file: those of its PEM blocks with this label, ignoring other blocks, or the whole file
 * if it is not PEM. A block that is not base64 yields no bytes.
 */
export function derBlocks(bytes: Uint8Array, label: RegExp): readonly Uint8Array[] {
  const text = decodeUtf8(bytes);
  if (text === null || !text.includes('-----BEGIN ')) return [bytes];
  const blocks = text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\s]*)-----END \1-----/g);
  return [...blocks]
    .filter(([, name]) => label.test(name ?? ''))
    .map(([, , body]) => fromBase64((body ?? '').replaceAll(/\s/g, '')) ?? new Uint8Array());
}

/** The witness keys of a text: lines of verifier keys of type 0x04; all others are ignored. */
export function witnessKeysIn(text: string): readonly VerifierKey[] {
  return text
    .split(/\r?\n/)
    .map((line) => parseWitnessKey(line))
    .filter((key) => key !== null);
}

/** Removes duplicate public keys, so that a witness does not count twice. */
export function distinctKeys(keys: readonly VerifierKey[]): readonly VerifierKey[] {
  return [...new Map(keys.map((key) => [toHex(key.publicKey), key])).values()];
}

/** The ledger keys of a text: lines of C2SP verifier keys; all others are ignored. */
export function ledgerKeysIn(text: string): readonly VerifierKey[] {
  return text
    .split(/\r?\n/)
    .map((line) => parseVerifierKey(line))
    .filter((key) => key !== null);
}
