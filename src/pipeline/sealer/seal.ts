import { MerkleTree } from 'merkletreejs';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { concatBytes, toBase64, toHex } from '../../../schemas/crypto/encoding.js';
import { BATCH_SEALED, type BatchSealedBody } from '../../../schemas/events/ledger.js';
import { LEDGER_STREAM, POLICY_STREAM } from '../../../schemas/events/streams.js';
import { type BatchHeader, batchHeaderText, streamsRoot, tiledRuns } from '../../../schemas/evidence/batch-header.js';
import { levelOf } from '../../../schemas/evidence/roll-ups.js';
import { emptyRoot } from '../../../schemas/merkle/hashing.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { EventLog, Position } from '../event-log/port.js';
import { ledgerEvent, refuseIfCorrupt, tryAppendToLedger } from '../ledger/append-to-ledger.js';
import { checkBatch, type KnownBatch } from '../ledger/apply-batch.js';
import { catchUpLedger } from '../ledger/apply-ledger.js';
import {
  areBatchRuns,
  namedRuns,
  newestResponse,
  runsOf,
  sortedLeaves,
  sortedTags,
  tagsRoot,
} from '../ledger/batch-rules.js';
import {
  type FollowedLedger,
  headOf,
  type LedgerState,
  leafOf,
  NOTHING_SEALED,
  type SealedLeaf,
} from '../ledger/ledger-state.js';
import { readAnnounced, readPolicyStream } from '../ledger/policy.js';
import { readCommitment } from '../ledger/roll-up.js';
import { readSealedHeads } from '../ledger/sealed-heads.js';

/** Content of a new Merkle batch. */
export interface BatchContent {
  /** Events in the order of the log. */
  readonly leaves: readonly SealedLeaf[];
  /**
   * Every event of a sealed stream up to this position is in this batch or an earlier one. Null if this is unknown.
   */
  readonly logPosition: Position | null;
}

/**
 * Builds the header of the batch that follows `state`.
 * @param leaves the leaves that `sortedLeaves` returns
 * @throws RangeError if the leaves of a stream are not adjacent in revision, or a tag occurs twice
 */
export function nextHeader(state: FollowedLedger, leaves: readonly SealedLeaf[], now: Date): BatchHeader {
  const runs = runsOf(leaves);
  if (!areBatchRuns(runs, state.keyOf)) throw new RangeError('the leaves of a stream are not adjacent in revision');
  const tags = sortedTags(leaves.flatMap(({ tag }) => tag ?? []));
  return {
    ...headerStart(state, now),
    level: 0,
    count: leaves.length,
    root: toHex(batchRoot(leaves.map((leaf) => leaf.hash))),
    streams_count: runs.length,
    streams_root: toHex(streamsRoot(tiledRuns(namedRuns(runs), state.keyOf))),
    tags_count: tags.length,
    tags_root: tagsRoot(tags),
    policies: state.policies + leaves.filter(({ stream }) => stream === POLICY_STREAM).length,
  };
}

function headerStart(
  state: LedgerState,
  now: Date,
): Pick<BatchHeader, 'v' | 'number' | 'policies' | 'sealed_at' | 'after'> {
  return {
    v: 1,
    number: state.size,
    policies: state.policies,
    sealed_at: new Date(Math.max(now.getTime(), state.sealedAt?.getTime() ?? 0)).toISOString(),
    after: newestResponse(state),
  };
}

interface SealOutcome {
  readonly state: FollowedLedger;
  /** Whether this call sealed the batch. */
  readonly sealed: boolean;
}

/**
 * Seals a Merkle batch after `state`, unless another sealer was first, and updates the tables to
 * the end of the ledger. A roll-up that is due comes before it.
 * @returns the state afterwards
 */
export async function sealBatch(
  db: Queryable,
  eventLog: EventLog,
  state: FollowedLedger,
  content: BatchContent,
  now: Date,
): Promise<SealOutcome> {
  const before = await sealDueRollUp(db, eventLog, state, now);
  if (!before.sealed) return before;
  const leaves = sortedLeaves(content.leaves, before.state.keyOf);
  const header = nextHeader(before.state, leaves, now);
  return append(db, eventLog, before.state, header, { leaves, covered: null }, content.logPosition);
}

/** Seals the roll-up that is due at `state`. @returns `sealed`: false if another sealer was first */
async function sealDueRollUp(
  db: Queryable,
  eventLog: EventLog,
  state: FollowedLedger,
  now: Date,
): Promise<SealOutcome> {
  const level = levelOf(state.size);
  if (level === 0) return { state, sealed: true };
  const covered = await readCommitment(db, eventLog, state);
  const header = { ...headerStart(state, now), level, root: null, ...covered };
  return append(db, eventLog, state, header, { leaves: [], covered }, null);
}

/** Checks a batch as if the log had it already, and then appends it. */
async function append(
  db: Queryable,
  eventLog: EventLog,
  state: FollowedLedger,
  header: BatchHeader,
  known: KnownBatch,
  logPosition: Position | null,
): Promise<SealOutcome> {
  const runs = runsOf(known.leaves);
  const announced = await readAnnounced(eventLog, runs);
  const body: BatchSealedBody = {
    header: batchHeaderText(header),
    runs: runs.map(([stream, first, last]) => [stream, first, last]),
    ...(announced !== undefined && { announced }),
    tags: concatBytes(...known.leaves.flatMap(({ tag }) => tag ?? [])),
  };
  const event = ledgerEvent(BATCH_SEALED, { ...body, tags: toBase64(body.tags) });
  const batch = await refuseIfCorrupt(BATCH_SEALED, () => checkBatch(db, eventLog, state, header, body, known));
  await tryAppendToLedger(eventLog, state, event);
  const after = await catchUpLedger(db, eventLog, {
    from: state,
    known: { eventId: event.id, batch, logPosition },
  });
  const [first] = await eventLog.readStream(LEDGER_STREAM, state.revision + 1, 1);
  return { state: after, sealed: first?.id === event.id };
}

/**
 * Seals the unsealed events of the stream `policy` in a batch of their own, so that a change of keys does not wait for
 * a sealer.
 * @returns the state in which all of them are sealed, by this process or by another one
 * @throws the errors of `catchUpLedger` and `tryAppendToLedger`
 */
export async function sealPolicyEvents(
  db: Queryable,
  eventLog: EventLog,
  now: () => Date | Promise<Date>,
): Promise<FollowedLedger> {
  let state = await catchUpLedger(db, eventLog);
  for (;;) {
    const events = await readPolicyStream(eventLog, state.policies);
    if (events.length === 0) return state;
    let head = (await readSealedHeads(db, state, [POLICY_STREAM])).get(POLICY_STREAM) ?? NOTHING_SEALED;
    const leaves: SealedLeaf[] = [];
    for (const event of events) {
      const leaf = leafOf(event, head, null);
      leaves.push(leaf);
      head = headOf(leaf);
    }
    ({ state } = await sealBatch(db, eventLog, state, { leaves, logPosition: null }, await now()));
  }
}

/**
 * Seals a Merkle batch without leaves. This creates a new tree size, which the renewal of a time stamp needs.
 * @returns the state in which the ledger is larger than its newest checkpoint with a time stamp, even if
 *   another process appended the batch
 * @throws the errors of `catchUpLedger` and `tryAppendToLedger`
 */
export async function sealEmptyBatch(
  db: Queryable,
  eventLog: EventLog,
  now: () => Date | Promise<Date>,
  from: FollowedLedger | null = null,
): Promise<FollowedLedger> {
  let state = await catchUpLedger(db, eventLog, { from });
  while (state.size === (state.pending ?? state.stamped)?.size || state.size === 0) {
    ({ state } = await sealBatch(db, eventLog, state, { leaves: [], logPosition: null }, await now()));
  }
  return state;
}

const NODE_PREFIX = Uint8Array.of(0x01);

/**
 * Computes the root of a Merkle batch: an RFC 6962 tree over leaf hashes. The library promotes an
 * odd node unchanged, which gives the same tree as a split at the largest power of two. The library
 * defines no root for zero leaves, so this function does.
 * @param leaves 32 bytes each, in log order
 * @returns 32 bytes
 */
export function batchRoot(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length === 0) return emptyRoot();
  const tree = new MerkleTree(leaves.map(asBuffer), hashPair, { hashLeaves: false, sort: false, duplicateOdd: false });
  return new Uint8Array(tree.getRoot());
}

/** @param pair two concatenated child hashes */
function hashPair(pair: Uint8Array): Buffer {
  return asBuffer(sha256(NODE_PREFIX, pair));
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
