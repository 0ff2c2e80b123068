import { ProvedEntry, type ProvedEntryFile } from '../../../../schemas/evidence/contradiction.js';
import type { VerifierKey } from '../../../../schemas/evidence/signed-note.js';
import { followAnnouncements, trustedBy } from '../../ledger/announcements.js';
import type { LedgerService } from '../service.js';

/** The keys of a ledger that an auditor trusts, and how it came to them. */
export interface LearntKeys {
  readonly keys: readonly VerifierKey[];
  /** Announcements that hold, oldest first. */
  readonly announcements: readonly ProvedEntryFile[];
}

/**
 * Learns the next keys of a ledger from the announcements that its service publishes.
 * @param given keys that the auditor trusts
 * @param known announcements that were learnt before: a service cannot withhold them later
 * @param now keys whose algorithm is not sound then do not count
 * @throws Unreachable
 */
export async function learnKeys(
  service: Pick<LedgerService, 'announcements'>,
  given: readonly VerifierKey[],
  known: readonly ProvedEntryFile[],
  now: Date,
): Promise<LearntKeys> {
  const served = (await service.announcements()).filter(
    (proof) => ProvedEntry.safeParse(proof).success && known.every(({ entry }) => entry !== proof.entry),
  );
  const all = [...known, ...served];
  const chain = await followAnnouncements(
    all.map((proof) => ProvedEntry.parse(proof)),
    null,
  );
  const { trusted, followers } = await trustedBy(given, chain, now);
  // Announcements of a ledger that no given key signed would stand in the way of its own.
  return { keys: trusted, announcements: followers.length === 0 ? known : all.slice(0, chain.announcements.length) };
}
