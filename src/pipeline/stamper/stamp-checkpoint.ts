import type { Queryable } from '../../platform/database/pool.js';
import type { StatedTime } from '../../timestamping/acceptance.js';
import type { TimestampClient } from '../../timestamping/client.js';
import { eventSize } from '../event-log/new-events.js';
import type { EventLog } from '../event-log/port.js';
import { tryAppendToLedger } from '../ledger/append-to-ledger.js';
import { catchUpLedger } from '../ledger/apply-ledger.js';
import { LedgerKeyMismatch } from '../ledger/errors.js';
import type { FollowedLedger } from '../ledger/followed-ledger.js';
import { verifierKeyOf } from '../ledger/ledger-signer.js';
import type { LedgerState } from '../ledger/ledger-state.js';
import { type CheckpointSigners, checkpointNote } from './checkpoint-note.js';
import { evidenceOf, keepEvidence, keepNotices } from './keep-evidence.js';
import { type ObtainedStamp, obtainStamp, stampedEvent } from './obtain-stamp.js';

export interface StampingOptions extends CheckpointSigners {
  readonly db: Queryable;
  readonly eventLog: EventLog;
  readonly client: TimestampClient;
  /** Number of distinct authorities that must stamp a checkpoint. */
  readonly quorum: number;
  /**
   * Stores the ledger's state outside the database; called before a checkpoint leaves the service.
   */
  readonly rememberHead?: (state: LedgerState) => Promise<void>;
}

/**
 * Obtains time stamps for one checkpoint until enough authorities have stamped it, and appends each
 * to `ledger` at once. So a later call continues with those that are still missing. The checkpoint
 * is the pending one, or else that of `state.size`. Nothing is appended if another process was
 * first.
 * @param state the ledger as it was followed: it contains that size
 * @param previous the newest time stamp of a smaller checkpoint; the new ones must not precede it
 * @returns the ledger's state afterwards, and whether this call obtained the last time stamp. The
 *   state is stamped at that size or above, or another process began another checkpoint
 * @throws TimestampUnavailable
 * @throws LedgerKeyMismatch if the ledger's key was changed in the meantime
 * @throws the errors of `tryAppendToLedger` and `catchUpLedger`
 */
export async function stampCheckpoint(
  options: StampingOptions,
  state: FollowedLedger,
  previous: StatedTime | null,
  signal: AbortSignal,
): Promise<{ readonly state: FollowedLedger; readonly isOwn: boolean }> {
  const { db, eventLog, signer, client, quorum, rememberHead } = options;
  const { size } = state.pending ?? state;
  const note = state.pending?.note ?? (await checkpointNote(options, state));
  await rememberHead?.(state);
  let current = await keepNotices(db, eventLog, state);
  let newest: ObtainedStamp | null = null;
  while (!isStamped(current, size) && mayFollow(current, size, note)) {
    const exclude = excludedBy(current, quorum);
    const obtained = await obtainStamp(client, { note, previous, exclude }, signal);
    newest = obtained;
    const gathered = evidenceOf(obtained.stamp);
    current = await catchUpLedger(db, eventLog, { from: current });
    while (mayFollow(current, size, note) && isMissing(current, size, obtained, quorum)) {
      // The append succeeds only at this revision, so no checkpoint of a replaced key enters the
      // ledger.
      if (current.key !== verifierKeyOf(signer)) throw new LedgerKeyMismatch(current.key, verifierKeyOf(signer));
      const number = (current.pending?.tokens.length ?? 0) + 1;
      const event = stampedEvent(obtained, { size, note, number, quorum });
      const { ledger, rest } = await keepEvidence(db, eventLog, current, gathered, eventSize(event));
      // Otherwise the ledger went on meanwhile, and the rules are asked again.
      if (ledger === current) await tryAppendToLedger(eventLog, current, ...rest, event);
      current = await catchUpLedger(db, eventLog, { from: ledger });
    }
  }
  return { state: current, isOwn: newest !== null && current.stamped?.sha256 === newest.sha256 };
}

function isStamped({ stamped }: LedgerState, size: number): boolean {
  return (stamped?.size ?? 0) >= size;
}

/**
 * Whether a time stamp of this checkpoint may be the next one. Another process may have begun a
 * checkpoint of another size in the meantime, which is completed first: the ledger would be corrupt
 * for good otherwise.
 */
function mayFollow({ pending }: LedgerState, size: number, note: string): boolean {
  return pending === null || (pending.size === size && pending.note === note);
}

/**
 * The organizations that have stamped the pending checkpoint. None is excluded if they are enough
 * since the quorum was lowered: then one more time stamp, of any authority, completes it.
 */
function excludedBy({ pending }: LedgerState, quorum: number): readonly string[] {
  const organizations = pending?.tokens.map(({ organization }) => organization) ?? [];
  return organizations.length < quorum ? organizations : [];
}

/** Whether the checkpoint still needs this time stamp. Another process may have added others. */
function isMissing(state: LedgerState, size: number, { sha256, stamp }: ObtainedStamp, quorum: number): boolean {
  if (isStamped(state, size)) return false;
  const isKnown = state.pending?.tokens.some((token) => token.sha256 === sha256) ?? false;
  return !isKnown && !excludedBy(state, quorum).includes(stamp.organization);
}
