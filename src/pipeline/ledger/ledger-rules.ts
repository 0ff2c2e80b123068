import { sha256 } from '../../../schemas/crypto/digest.js';
import { equalBytes, toHex } from '../../../schemas/crypto/encoding.js';
import {
  BATCH_SEALED,
  BatchSealedBody,
  CHECKPOINT_STAMPED,
  CheckpointStampedBody,
  EVIDENCE_KEPT,
  EvidenceKeptBody,
  LEDGER_EVENT_SKIPPED,
  LEDGER_KEY_PUBLISHED,
  LEDGER_RESTORED,
  LedgerEventSkippedBody,
  LedgerKeyPublishedBody,
  LedgerRestoredBody,
} from '../../../schemas/events/ledger.js';
import { InvalidEventBody, parseBody } from '../../../schemas/events/sealed-event.js';
import { type BatchHeader, batchLeaf } from '../../../schemas/evidence/batch-header.js';
import { parseCheckpoint } from '../../../schemas/evidence/checkpoint.js';
import {
  parseNote,
  parseVerifierKey,
  SIGNATURE_TYPES,
  type SignedNote,
} from '../../../schemas/evidence/signed-note.js';
import { verifyCheckpoint } from '../../../schemas/evidence/verify-note.js';
import type { NewEvent } from '../event-log/port.js';
import { batchHeaderOf } from './batch-rules.js';
import { LedgerCorrupt } from './errors.js';
import {
  type AnnouncedKey,
  announcedKey,
  type FollowedLedger,
  rootAt,
  withLeaf,
  withoutSizesUpTo,
} from './ledger-state.js';
import { SALT_KEY_BYTES, streamKeysUnder } from './stream-keys.js';

/** The change that an event of the ledger makes to the tables. */
export type LedgerChange =
  | { readonly kind: 'batch'; readonly header: BatchHeader; readonly body: BatchSealedBody }
  | { readonly kind: 'stamp'; readonly body: CheckpointStampedBody; readonly handover: KeyHandover | null }
  | { readonly kind: 'evidence'; readonly body: EvidenceKeptBody }
  | { readonly kind: 'first-key'; readonly body: LedgerKeyPublishedBody }
  | { readonly kind: 'note' };

/** Keys that are the only signers from here on. */
export interface KeyHandover extends AnnouncedKey {
  /** The Ed25519 key that they replace. */
  readonly replaces: string;
}

export interface FollowedEvent {
  readonly state: FollowedLedger;
  readonly change: LedgerChange;
}

/**
 * Follows the ledger by one event: every rule that the stream alone decides. Whether the leaves of a
 * batch are those of the events that it names is decided by `checkBatch`.
 * @throws LedgerCorrupt if the event cannot follow
 */
export async function followEvent(
  state: FollowedLedger,
  event: Pick<NewEvent, 'type' | 'data'>,
): Promise<FollowedEvent> {
  const revision = state.revision + 1;
  try {
    return await followValid({ ...state, revision }, event);
  } catch (error) {
    if (!(error instanceof InvalidEventBody)) throw error;
    throw new LedgerCorrupt(revision, error.message);
  }
}

async function followValid(
  state: FollowedLedger,
  { type, data }: Pick<NewEvent, 'type' | 'data'>,
): Promise<FollowedEvent> {
  switch (type) {
    case BATCH_SEALED:
      return followBatch(state, parseBody(BatchSealedBody, type, data));
    case CHECKPOINT_STAMPED:
      return followStamp(state, parseBody(CheckpointStampedBody, type, data));
    case EVIDENCE_KEPT:
      return followEvidence(state, parseBody(EvidenceKeptBody, type, data));
    case LEDGER_KEY_PUBLISHED:
      return followKey(state, parseBody(LedgerKeyPublishedBody, type, data));
    case LEDGER_RESTORED:
      // The event changes nothing. It documents in `ledger` why two histories exist.
      parseBody(LedgerRestoredBody, type, data);
      return { state, change: { kind: 'note' } };
    case LEDGER_EVENT_SKIPPED:
      return followSkip(state, parseBody(LedgerEventSkippedBody, type, data));
    default:
      throw new LedgerCorrupt(state.revision, `events of type ${type} do not belong there`);
  }
}

function followBatch(state: FollowedLedger, body: BatchSealedBody): FollowedEvent {
  const header = batchHeaderOf(state, body);
  const next = {
    ...state,
    size: header.number + 1,
    sealedAt: new Date(header.sealed_at),
    policies: header.policies,
    announced: announcedIn(state, header, body) ?? state.announced,
    tree: withLeaf(state.tree, batchLeaf(body.header)),
  };
  return { state: next, change: { kind: 'batch', header, body } };
}

/**
 * Returns the next keys that a batch announces. There is one announcement at a time: the current keys sign until its
 * checkpoint.
 */
function announcedIn(state: FollowedLedger, { number }: BatchHeader, body: BatchSealedBody): AnnouncedKey | null {
  const announced = announcedKey(number, body);
  if (announced === null) return null;
  const { key, mlDsaKey } = announced;
  const nameOf = (line: string | null): string | undefined => parseVerifierKey(line ?? '')?.name;
  const isNext = key !== state.key && mlDsaKey !== state.mlDsaKey && nameOf(key) === nameOf(state.key);
  if (!isNext || !areLedgerKeys(key, mlDsaKey))
    throw new LedgerCorrupt(state.revision, 'it announces keys that cannot follow');
  if (state.announced !== null)
    throw new LedgerCorrupt(state.revision, 'other keys are announced, and do not sign yet');
  return announced;
}

async function followStamp(state: FollowedLedger, body: CheckpointStampedBody): Promise<FollowedEvent> {
  const next = await handoverOf(state, body);
  const token = { sha256: toHex(sha256(body.tsr)), organization: body.organization };
  if (body.number < body.quorum) {
    const tokens = [...(state.pending?.tokens ?? []), token];
    const pending = { size: body.size, note: body.note, tokens };
    return { state: { ...state, pending }, change: { kind: 'stamp', body, handover: null } };
  }
  const handover = next === null || state.key === null ? null : { ...next, replaces: state.key };
  const after = {
    ...state,
    pending: null,
    stamped: { size: body.size, sha256: token.sha256 },
    tree: withoutSizesUpTo(state.tree, body.size),
    ...(handover !== null && { key: handover.key, mlDsaKey: handover.mlDsaKey, announced: null }),
  };
  return { state: after, change: { kind: 'stamp', body, handover } };
}

/**
 * Follows a part of what evidence needs. The digest of an item with several parts is checked where the item is used,
 * because the parts may be far apart.
 */
function followEvidence(state: FollowedLedger, body: EvidenceKeptBody): FollowedEvent {
  if (body.parts === 1 && toHex(sha256(body.data)) !== body.sha256)
    throw new LedgerCorrupt(state.revision, 'its data does not match its hash');
  return { state, change: { kind: 'evidence', body } };
}

function followKey(state: FollowedLedger, body: LedgerKeyPublishedBody): FollowedEvent {
  const { key, ml_dsa_key: mlDsaKey, salt_key: saltKey } = body;
  if (state.key !== null) throw new LedgerCorrupt(state.revision, 'the ledger has its first key already');
  if (!areLedgerKeys(key, mlDsaKey))
    throw new LedgerCorrupt(state.revision, 'its keys are not one of Ed25519 and one of ML-DSA-44, of one name');
  if (saltKey.length !== SALT_KEY_BYTES)
    throw new LedgerCorrupt(state.revision, `its salt_key does not have ${SALT_KEY_BYTES} bytes`);
  return { state: { ...state, key, mlDsaKey, keyOf: streamKeysUnder(saltKey) }, change: { kind: 'first-key', body } };
}

function followSkip(state: FollowedLedger, { revision }: LedgerEventSkippedBody): FollowedEvent {
  if (!state.skipped.includes(revision))
    throw new LedgerCorrupt(state.revision, `it skips revision ${revision}, which was applied`);
  return {
    state: { ...state, skipped: state.skipped.filter((skipped) => skipped !== revision) },
    change: { kind: 'note' },
  };
}

/**
 * Checks a time stamp of a checkpoint: both keys of the ledger must have signed its note over a root of
 * the tree, and on the first checkpoint over an announcement the announced keys too. While a checkpoint
 * has too few time stamps, each further one must be over the same note.
 * @param state the state at the revision of the event, before the time stamp
 * @returns the announced keys, if the checkpoint hands over to them
 * @throws LedgerCorrupt
 */
async function handoverOf(state: FollowedLedger, body: CheckpointStampedBody): Promise<AnnouncedKey | null> {
  const { revision, key, mlDsaKey } = state;
  const note = parseNote(body.note);
  const checkpoint = note === null ? null : parseCheckpoint(note.text);
  if (note === null || checkpoint === null) throw new LedgerCorrupt(revision, 'its note is not a checkpoint');
  if (key === null || mlDsaKey === null) throw new LedgerCorrupt(revision, 'no ledger key was published before it');
  if (!(await isSignedBy(note, [key, mlDsaKey])))
    throw new LedgerCorrupt(revision, 'its note is not signed by the ledger');
  if (checkpoint.size !== body.size || body.size > state.size || body.size <= (state.stamped?.size ?? 0)) {
    throw new LedgerCorrupt(revision, `a checkpoint of size ${body.size} does not belong here`);
  }
  const { pending } = state;
  if (pending !== null && (pending.size !== body.size || pending.note !== body.note)) {
    throw new LedgerCorrupt(revision, `checkpoint ${pending.size} has too few time stamps, and this is another one`);
  }
  if (body.number !== (pending?.tokens.length ?? 0) + 1) {
    throw new LedgerCorrupt(revision, `time stamp ${body.number} of checkpoint ${body.size} does not belong here`);
  }
  const root = rootAt(state.tree, body.size);
  if (root === null || !equalBytes(checkpoint.root, root)) {
    throw new LedgerCorrupt(revision, 'its root is not that of the ledger tree');
  }
  const next = keysDueAt(state, body.size);
  if (next !== null && !(await isSignedBy(note, [next.key, next.mlDsaKey])))
    throw new LedgerCorrupt(revision, 'it is over an announcement of keys that did not sign it');
  return next;
}

/** Returns the announced keys that must also sign a checkpoint of this size, or null if none must. */
export function keysDueAt({ announced }: Pick<FollowedLedger, 'announced'>, size: number): AnnouncedKey | null {
  return announced !== null && size > announced.batch ? announced : null;
}

/**
 * Returns whether two verifier-key lines are an Ed25519 key and an ML-DSA-44 key, in this order, with the same name.
 */
function areLedgerKeys(key: string, mlDsaKey: string): boolean {
  const [one, other] = [parseVerifierKey(key), parseVerifierKey(mlDsaKey)];
  const isNamed = one !== null && one.name === other?.name;
  return isNamed && one.type === SIGNATURE_TYPES.ed25519 && other.type === SIGNATURE_TYPES.mlDsa;
}

/**
 * Returns whether all of these keys signed a checkpoint.
 * @param lines verifier-key lines
 */
export async function isSignedBy(note: SignedNote, lines: readonly string[]): Promise<boolean> {
  const keys = lines.map((line) => parseVerifierKey(line));
  const verdicts = await Promise.all(keys.map((key) => key && verifyCheckpoint(note, key)));
  return verdicts.every((verdict) => verdict === 'signed');
}
