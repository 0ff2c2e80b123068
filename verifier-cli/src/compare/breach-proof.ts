import type { ContradictionFile } from '../../../schemas/evidence/contradiction.js';
import { EntryLine, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { SignedPromise } from '../../../schemas/evidence/promise.js';
import type { VerifierKey } from '../../../schemas/evidence/signed-note.js';
import type { ByteSource } from '../container/byte-source.js';
import { withAnnouncements } from './compare.js';
import { proofOfEntry } from './entry-conflict.js';
import { historyOfPackage } from './history.js';

/** A broken promise: the package holds another record under the promised event id. */
export interface Breach {
  readonly promise: SignedPromise;
  readonly eventId: string;
}

/**
 * The proof that a promise was broken.
 * @param keys keys of the ledger that the relying party trusts
 * @returns null if the package does not contain the entry that proves it
 */
export async function breachProof(
  source: ByteSource,
  { promise, eventId }: Breach,
  keys: readonly VerifierKey[],
): Promise<ContradictionFile | null> {
  const history = await historyOfPackage(source, keys, { trustAnchors: [], at: new Date() });
  if (history === null || history.files === null) return null;
  for await (const { value } of history.files.lines(PACKAGE_FILES.entries, EntryLine, 'entry.format')) {
    if (!value.entry.includes(`"event_id":"${eventId}"`)) continue;
    const second = await proofOfEntry(history, value);
    return second === null ? null : withAnnouncements({ kind: 'promise', promise, second }, history);
  }
  return null;
}
