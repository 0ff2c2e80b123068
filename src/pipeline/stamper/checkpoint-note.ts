import { checkpointText } from '../../../schemas/evidence/checkpoint.js';
import { formatNote } from '../../../schemas/evidence/signed-note.js';
import { type LedgerSigner, mlDsaVerifierKeyOf, verifierKeyOf } from '../ledger/ledger-signer.js';

/**
 * Builds the signed checkpoint of a size that the `ledger` stream contains. The text is always the
 * same, because the signatures are deterministic. Each size therefore has one note.
 * @param root root of the ledger tree at that size, 32 bytes
 * @throws the errors of `LedgerSigner`
 */
export async function checkpointNote(signer: LedgerSigner, size: number, root: Uint8Array): Promise<string> {
  const checkpoint = { origin: signer.origin, size, root, nextKeys: [] };
  return formatNote(checkpointText(checkpoint), await signer.signCheckpoint(checkpoint));
}

/**
 * Builds the checkpoint that changes the keys of the ledger: it names the new keys, and the old keys and
 * the new ones sign it, those of ML-DSA-44 also as a whole text (docs/evidence-format.md §8).
 * @param root root of the ledger tree at that size, 32 bytes
 * @throws the errors of `LedgerSigner`
 */
export async function bridgingNote(
  signer: LedgerSigner,
  next: LedgerSigner,
  size: number,
  root: Uint8Array,
): Promise<string> {
  const nextKeys = [verifierKeyOf(next), mlDsaVerifierKeyOf(next)];
  const checkpoint = { origin: signer.origin, size, root, nextKeys };
  const text = checkpointText(checkpoint);
  return formatNote(text, [
    ...(await signer.signCheckpoint(checkpoint)),
    ...(await next.signCheckpoint(checkpoint)),
    await signer.signTextMlDsa(text),
    await next.signTextMlDsa(text),
  ]);
}
