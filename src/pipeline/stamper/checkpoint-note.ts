import { checkpointText } from '../../../schemas/evidence/checkpoint.js';
import { formatNote } from '../../../schemas/evidence/signed-note.js';
import { keysDueAt } from '../ledger/checkpoint-rules.js';
import { LedgerKeyMismatch } from '../ledger/errors.js';
import { type FollowedLedger, rootOf } from '../ledger/followed-ledger.js';
import { type LedgerSigner, verifierKeyOf } from '../ledger/ledger-signer.js';

/** Signers of the checkpoints of a ledger. */
export interface CheckpointSigners {
  /** The current keys. */
  readonly signer: LedgerSigner;
  /** Opens the next keys, if the keyring has some: they sign the first checkpoint over their announcement too. */
  readonly openNext?: () => Promise<LedgerSigner | null>;
}

/**
 * Builds the signed checkpoint of the size that `state` has. The text is always the same, because the
 * signatures are deterministic. Each size therefore has one note.
 * @throws LedgerKeyMismatch if the announced keys must sign, and cannot be opened; the errors of `LedgerSigner`
 */
export async function checkpointNote({ signer, openNext }: CheckpointSigners, state: FollowedLedger): Promise<string> {
  const { origin } = signer;
  const checkpoint = { origin, size: state.size, root: rootOf(state.tree) };
  const signatures = [...(await signer.signCheckpoint(checkpoint))];
  const announced = keysDueAt(state, state.size);
  if (announced !== null) {
    const next = (await openNext?.()) ?? null;
    if (next === null || verifierKeyOf(next) !== announced.key)
      throw new LedgerKeyMismatch(announced.key, verifierKeyOf(next ?? signer));
    signatures.push(...(await next.signCheckpoint(checkpoint)));
  }
  return formatNote(checkpointText(checkpoint), signatures);
}
