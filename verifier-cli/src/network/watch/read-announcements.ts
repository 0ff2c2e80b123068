import { ProvedEntry, type ProvedEntryFile } from '../../../../schemas/evidence/contradiction.js';
import type { VerifierKey } from '../../../../schemas/evidence/signed-note.js';
import { followAnnouncements, trustedBy } from '../../ledger/announcements.js';
import type { LedgerService } from '../service.js';

/** The keys of a ledger that an auditor trusts, and how it came to them. */
export interface LearntKeys {
  readonly keys: readonly VerifierKey[];
  /** Valid announcements, oldest first. */
  readonly announcements: readonly ProvedEntryFile[];
}

/**
 * Learns the next keys of a ledger from the announcements that its service publishes.
 * @param given keys that the auditor trusts
 * @param known announcements that were learnt before, which a service can therefore not withhold later
 * @param now keys whose algorithm is no longer secure at this time are ignored
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
  // Announcements of another ledger, which no given key signed, would only get in the way.
  return { keys: trusted, announcements: followers.length === 0 ? known : all.slice(0, chain.announcements.length) };
}
