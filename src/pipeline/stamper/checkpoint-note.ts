import { utf8 } from '../../../schemas/crypto/encoding.js';
import { checkpointText } from '../../../schemas/evidence/checkpoint.js';
import { formatNote, formatSignatureLine } from '../../../schemas/evidence/signed-note.js';
import { type LedgerSigner, verifierKeyOf } from '../ledger/ledger-signer.js';

/**
 * Builds the signed checkpoint of a size that the `ledger` stream contains. The text is always the
 * same, because Ed25519 signatures are deterministic. Each size therefore has one note.
 * @param root root of the ledger tree at that size, 32 bytes
 * @throws the errors of `LedgerSigner.sign`
 */
export async function checkpointNote(signer: LedgerSigner, size: number, root: Uint8Array): Promise<string> {
  const text = checkpointText({ origin: signer.origin, size, root, nextKey: null });
  return formatNote(text, [await signatureLine(signer, text)]);
}

/**
 * Builds the checkpoint that changes the key of the ledger: it names the new key, and both keys
 * sign it (docs/evidence-format.md §8).
 * @param root root of the ledger tree at that size, 32 bytes
 * @throws the errors of `LedgerSigner.sign`
 */
export async function bridgingNote(
  signer: LedgerSigner,
  next: LedgerSigner,
  size: number,
  root: Uint8Array,
): Promise<string> {
  const text = checkpointText({ origin: signer.origin, size, root, nextKey: verifierKeyOf(next) });
  return formatNote(text, [await signatureLine(signer, text), await signatureLine(next, text)]);
}

async function signatureLine({ origin, publicKey, sign }: LedgerSigner, text: string): Promise<string> {
  return formatSignatureLine(origin, publicKey, await sign(utf8(text)));
}
