import { decodeUtf8, utf8 } from '../../../../schemas/crypto/encoding.js';
import type { ContradictionFile } from '../../../../schemas/evidence/contradiction.js';
import type { VerifierKey } from '../../../../schemas/evidence/signed-note.js';
import { type Comparison, compareHistories } from '../../compare/compare.js';
import { type History, historyOfNote } from '../../compare/history.js';
import { englishText } from '../../findings/finding.js';
import { Unreachable } from '../bounded-fetch.js';
import type { LedgerService, ListedCheckpoint } from '../service.js';
import { type LearntKeys, learnKeys } from './read-announcements.js';
import type { WatchState } from './watch-state.js';

/** Result of one check of a ledger. */
export interface Sighting {
  /**
   * `undecided` is an alarm without proof, for example about a service that does not respond. `violation` means that
   * the structure breaks a rule or is not published, but there is no proof.
   */
  readonly outcome: 'fine' | 'contradiction' | 'violation' | 'undecided';
  /** Readable text. */
  readonly statement: string;
  /** Size of the newest checkpoint, or null if there is none. */
  readonly size: number | null;
  /** State to store, or null if the stored state stays. */
  readonly state: WatchState | null;
  readonly contradiction: ContradictionFile | null;
}

export interface WatchOptions {
  readonly service: LedgerService;
  /** Keys of the ledger that the relying party trusts. */
  readonly keys: readonly VerifierKey[];
  /** Maximum age of the newest checkpoint, in milliseconds. */
  readonly maxAgeMs: number;
  readonly now: Date;
}

/** Reads a note as a history, with the changes of the ledger's keys, or null if it is not a checkpoint. */
type ReadHistory = (note: Uint8Array) => Promise<History | null>;

/**
 * Compares the newest checkpoint of a service with the newest one that was seen before. It never
 * throws for an answer of the service.
 * @param before null for the first check, which only verifies the signature and the age
 */
export async function watchOnce(options: WatchOptions, before: WatchState | null): Promise<Sighting> {
  try {
    return await look(options, before);
  } catch (error) {
    if (error instanceof Unreachable) return undecided(error.message, null);
    throw error;
  }
}

async function look(options: WatchOptions, before: WatchState | null): Promise<Sighting> {
  const { service, now } = options;
  const learnt = await learnKeys(service, options.keys, before?.announcements ?? [], now);
  const readHistory = historyReader(learnt);
  const seen = before === null ? null : await readHistory(utf8(before.newest.note));
  // The list starts with the checkpoint that was seen, so that its time is in it.
  const listed = await service.newest(Math.max(0, (seen?.newest.size ?? 1) - 1));
  if (listed === null) {
    const rolledBack = `the service no longer lists checkpoint ${seen?.newest.size}, which it served before: it was rolled back`;
    return undecided(seen === null ? 'the ledger has no stamped checkpoint yet' : rolledBack, null);
  }
  const { size } = listed;
  const bytes = await service.note(size);
  const found = await readHistory(bytes);
  if (found?.newest.size !== size) return undecided(`the service serves no checkpoint note of size ${size}`, size);
  if (!found.newest.isTrusted)
    return undecided(`checkpoint ${size} is signed neither by a key that you gave nor by a successor of it`, size);
  if (before !== null && seen !== null) {
    const anchor = before.anchor === null ? null : await readHistory(utf8(before.anchor));
    const problem = await problemOf(options, { seen, anchor, found });
    if (problem !== null) return problem;
  }
  const note = decodeUtf8(bytes) ?? '';
  const isOld = before !== null && seen?.newest.size === size;
  const newest = isOld ? before.newest : { note, seen_at: now.toISOString() };
  const anchor = isPowerOfTwo(size) ? (before?.anchor ?? null) : newest.note;
  return aged({ v: 1, newest, anchor, announcements: [...learnt.announcements] }, listed, options);
}

interface Histories {
  readonly seen: History;
  /** An older checkpoint, from which a proof shows a rewritten root. */
  readonly anchor: History | null;
  readonly found: History;
}

/** @returns null if the ledger extends what was seen */
async function problemOf(options: WatchOptions, { seen, anchor, found }: Histories): Promise<Sighting | null> {
  const { size } = found.newest;
  const compared = await compareWith(options, seen, found);
  if (compared.outcome === 'same' || compared.outcome === 'extends') return null;
  const again = compared.contradiction === null && anchor !== null ? await compareWith(options, anchor, found) : null;
  const proved = [compared, again].find((one) => one?.outcome === 'contradiction');
  if (proved != null)
    return {
      outcome: 'contradiction',
      statement: englishText(proved.statement),
      size,
      state: null,
      contradiction: proved.contradiction,
    };
  const old = seen.newest.size;
  return undecided(
    `checkpoint ${size} is not shown to extend checkpoint ${old}: ${englishText(compared.statement)}`,
    size,
  );
}

async function compareWith({ service, keys, now }: WatchOptions, older: History, newer: History): Promise<Comparison> {
  const [from, size] = [older.newest.size, newer.newest.size];
  const proofs = from < size ? await service.consistency(from, size) : [];
  return compareHistories(older, newer, keys, proofs, now);
}

/**
 * Checks the age of the newest checkpoint. The time that the ledger states counts only if it is before the time when it
 * was first seen.
 */
function aged(state: WatchState, { size, time }: ListedCheckpoint, { maxAgeMs, now }: WatchOptions): Sighting {
  const seenAt = new Date(state.newest.seen_at);
  const since = time !== null && time < seenAt ? time : seenAt;
  const isStale = now.getTime() - since.getTime() > maxAgeMs;
  const dated = `${time === null ? 'was first seen at' : 'is of'} ${since.toISOString()}`;
  return {
    outcome: isStale ? 'undecided' : 'fine',
    statement: isStale
      ? `the ledger is stale: its newest checkpoint ${size} ${dated}`
      : `the newest checkpoint ${size} ${dated}, and no batch that was seen before was rewritten`,
    size,
    state,
    contradiction: null,
  };
}

function undecided(statement: string, size: number | null): Sighting {
  return { outcome: 'undecided', statement, size, state: null, contradiction: null };
}

function historyReader({ keys, announcements }: LearntKeys): ReadHistory {
  return async (note) => {
    const history = await historyOfNote(note, keys);
    return history && { ...history, announcements };
  };
}

function isPowerOfTwo(size: number): boolean {
  return 2 ** Math.round(Math.log2(size)) === size;
}
