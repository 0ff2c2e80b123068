import { LEDGER_KEY_ANNOUNCED, LedgerKeyAnnouncedRecord } from '../../../schemas/events/ledger-key.js';
import { POLICY_STREAM } from '../../../schemas/events/streams.js';
import { type Checkpoint, parseCheckpoint } from '../../../schemas/evidence/checkpoint.js';
import { MAX_ANNOUNCEMENTS, type ProvedEntry, type ProvedEntryFile } from '../../../schemas/evidence/contradiction.js';
import { isCosignatureBy } from '../../../schemas/evidence/cosignature.js';
import type { Entry } from '../../../schemas/evidence/entry.js';
import {
  isSameKey,
  parseNote,
  parseVerifierKey,
  type SignedNote,
  type VerifierKey,
} from '../../../schemas/evidence/signed-note.js';
import { verifyCheckpoint } from '../../../schemas/evidence/verify-note.js';
import { matchShape } from '../files/parse.js';
import { type Finding, finding } from '../findings/finding.js';
import { isSoundKey } from '../trust/sound-keys.js';
import { signatureWork, type WorkMeter } from '../work/work-meter.js';
import { NotProved, provedEntry } from './proved-entry.js';

/** A checkpoint of a ledger. */
interface SizedNote {
  readonly size: number;
  readonly note: SignedNote;
}

/** The next keys of a ledger, announced in it. */
export interface Announcement {
  readonly keys: readonly VerifierKey[];
  /** Name of the ledger. */
  readonly origin: string;
  /** Number of the batch with the announcement, and its revision in `policy`. */
  readonly batch: number;
  readonly revision: number;
  /**
   * The first checkpoint over it, which the previous keys and these have signed: its size, and the checkpoint itself.
   */
  readonly size: number;
  readonly note: SignedNote;
}

/** The valid announcements in the order of the ledger, up to the first invalid one. */
export interface KeyChain {
  readonly announcements: readonly Announcement[];
  /** Why the next one is invalid, or null if all are valid. */
  readonly problem: Finding | null;
}

/** The changes of the ledger's keys that a package shows. */
export interface EnclosedAnnouncements extends KeyChain {
  /**
   * Later announcements that have no error but an incomplete proof. What they would justify remains undecided.
   */
  readonly unproved: readonly Announcement[];
  /** The proofs of the valid announcements, each on its own. */
  readonly proofs: readonly ProvedEntryFile[];
}

/**
 * Follows the changes of a ledger's keys (docs/evidence-format.md §8). Each announcement is proved to be under its
 * checkpoint, which both its own keys and those of the previous announcement signed. Nothing states which keys signed
 * before the first one; `trustedBy` compares its checkpoint with the given keys.
 * @param proofs the proofs in the order of the ledger
 * @param work counts the signatures, or null if they are few
 * @param known further checkpoints of the ledger; a key must not have signed them before its announcement was in force
 */
export async function followAnnouncements(
  proofs: readonly ProvedEntry[],
  work: WorkMeter | null,
  known: readonly SizedNote[] = [],
): Promise<KeyChain> {
  const announcements: Announcement[] = [];
  for (const proof of proofs) {
    const next =
      announcements.length < MAX_ANNOUNCEMENTS
        ? await readAnnouncement(proof, announcements, known, work)
        : finding('too-many-announcements', { limit: MAX_ANNOUNCEMENTS });
    if ('code' in next) return { announcements, problem: next };
    announcements.push(next);
  }
  return { announcements, problem: null };
}

async function readAnnouncement(
  proof: ProvedEntry,
  before: readonly Announcement[],
  known: readonly SizedNote[],
  work: WorkMeter | null,
): Promise<Announcement | Finding> {
  const note = parseNote(proof.note);
  const checkpoint = note === null ? null : parseCheckpoint(note.text);
  const placed = checkpoint === null ? null : placeOf(() => provedEntry(proof, checkpoint));
  if (note === null || checkpoint === null || placed === null) return finding('announcement-not-in-ledger');
  const { entry, header } = placed;
  const over = { note, checkpoint, length: proof.note.length };
  return announcementIn({ entry, batch: header.number, over }, before, known, work);
}

/** An event of the stream `policy`, and the first checkpoint over its batch. */
export interface PlacedAnnouncement {
  readonly entry: Entry;
  /** Number of the batch. */
  readonly batch: number;
  readonly over: {
    readonly note: SignedNote;
    readonly checkpoint: Checkpoint;
    /** Length of the note in bytes. */
    readonly length: number;
  };
}

/**
 * Checks the rules of an announcement other than its position (docs/evidence-format.md §8).
 * @param before the previous announcements
 * @returns what is wrong with it, if anything is
 */
export async function announcementIn(
  { entry, batch, over: { note, checkpoint, length } }: PlacedAnnouncement,
  before: readonly Announcement[],
  known: readonly SizedNote[],
  work: WorkMeter | null,
): Promise<Announcement | Finding> {
  const record = matchShape(LedgerKeyAnnouncedRecord, entry.record);
  if (entry.stream !== POLICY_STREAM || entry.type !== LEDGER_KEY_ANNOUNCED || !record.ok)
    return finding('announcement-malformed');
  const keys = parseKeys(record.value.keys);
  if (keys === null) return finding('announcement-malformed');
  const { origin } = checkpoint;
  const last = before.at(-1);
  if (keys.some(({ name }) => name !== origin) || (last !== undefined && last.origin !== origin))
    return finding('announcement-of-other-ledger');
  const isOld = (key: VerifierKey): boolean =>
    before.some((one) => hasOneOf(one.keys, [key])) ||
    [...known, ...before].some(({ size, note: { signatures } }) => {
      return size <= batch && signatures.some((line) => isCosignatureBy(line, key));
    });
  if (keys.some(isOld)) return finding('announcement-of-known-key');
  if (last !== undefined && (last.revision >= entry.revision || last.batch > batch))
    return finding('announcement-out-of-order');
  for (const key of [...(last?.keys ?? []), ...keys]) if (work?.take(signatureWork(key, length)) === false) break;
  if (last !== undefined && !(await haveSigned(note, last.keys))) return finding('announcement-old-key-unsigned');
  if (!(await haveSigned(note, keys))) return finding('announcement-new-key-unsigned');
  return { keys, origin, batch, revision: entry.revision, size: checkpoint.size, note };
}

function placeOf<T>(prove: () => T): T | null {
  try {
    return prove();
  } catch (error) {
    if (error instanceof NotProved) return null;
    throw error;
  }
}

/** The keys that a person trusts. */
export interface TrustedChain {
  /** The given keys and those that they vouch for, without keys whose algorithm is no longer secure. */
  readonly trusted: readonly VerifierKey[];
  /** The keys that the given keys vouch for. */
  readonly followers: readonly VerifierKey[];
  /** The keys before the first announcement, or null if none of them was given. */
  readonly first: readonly VerifierKey[] | null;
}

/**
 * Returns the keys to trust. Through announcements, trust in a key extends to its successors, but not to its
 * predecessors.
 * @param given the keys that the relying party passed
 * @param at time of verification; keys whose algorithm is no longer secure then are ignored
 */
export async function trustedBy(
  given: readonly VerifierKey[],
  { announcements }: KeyChain,
  at: Date,
): Promise<TrustedChain> {
  const isSound = (key: VerifierKey): boolean => isSoundKey(key, at);
  const sound = given.filter(isSound);
  const [start] = announcements;
  const announced = announcements.flatMap(({ keys }) => keys);
  const first: VerifierKey[] = [];
  for (const key of sound) {
    const mayBeFirst = start !== undefined && !hasOneOf(announced, [key]);
    if (mayBeFirst && (await verifyCheckpoint(start.note, key)) === 'signed') first.push(key);
  }
  const pinned = first.length > 0 ? 0 : announcements.findIndex(({ keys }) => hasOneOf(keys, sound));
  const followers = pinned < 0 ? [] : announcements.slice(pinned).flatMap(({ keys }) => keys.filter(isSound));
  const further = followers.filter((key) => !hasOneOf(sound, [key]));
  return { trusted: [...sound, ...further], followers, first: first.length > 0 ? first : null };
}

async function haveSigned(note: SignedNote, keys: readonly VerifierKey[]): Promise<boolean> {
  for (const key of keys) if ((await verifyCheckpoint(note, key)) !== 'signed') return false;
  return true;
}

/** Parses the keys of these lines, or null if one is not a key of a ledger, or two are equal. */
function parseKeys(lines: readonly string[]): readonly VerifierKey[] | null {
  const keys: VerifierKey[] = [];
  for (const line of lines) {
    const key = parseVerifierKey(line);
    if (key === null || hasOneOf(keys, [key])) return null;
    keys.push(key);
  }
  return keys;
}

/** Whether two lists have a key in common. */
export function hasOneOf(keys: readonly VerifierKey[], others: readonly VerifierKey[]): boolean {
  return keys.some((key) => others.some((other) => isSameKey(key, other)));
}
