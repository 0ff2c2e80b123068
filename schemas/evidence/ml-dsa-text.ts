import { sha256 } from '../crypto/digest.js';
import { concatBytes, toBase64, utf8 } from '../crypto/encoding.js';

/**
 * The signature type of ML-DSA-44 over a text that is not a checkpoint. C2SP does not assign one, and reserves 0xff
 * with a longer identifier for such types. The signed texts of this format begin differently from the message over a
 * checkpoint, so one key can safely make both signatures.
 */
const TYPE = concatBytes(Uint8Array.of(0xff), utf8('consent-ledger/ml-dsa-44-text'));

/** Key id of an ML-DSA-44 key for signatures over a text, 4 bytes. */
export function mlDsaTextKeyId(name: string, publicKey: Uint8Array): Uint8Array {
  return sha256(utf8(`${name}\n`), concatBytes(TYPE, publicKey)).slice(0, 4);
}

/** The signature line over a text, including its line feed. @param signature 2420 bytes */
export function formatMlDsaTextLine(name: string, publicKey: Uint8Array, signature: Uint8Array): string {
  return `\u2014 ${name} ${toBase64(concatBytes(mlDsaTextKeyId(name, publicKey), signature))}\n`;
}
