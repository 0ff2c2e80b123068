import { toBase64, toHex } from '../../../schemas/crypto/encoding.js';
import { BATCH_SEALED } from '../../../schemas/events/ledger.js';
import { POLICY_STREAM } from '../../../schemas/events/streams.js';
import { type BatchHeader, batchHeaderText, streamsRoot, tiledRuns } from '../../../schemas/evidence/batch-header.js';
import { levelOf } from '../../../schemas/evidence/roll-ups.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { EventLog, Position } from '../event-log/port.js';
import { ledgerEvent, tryAppendToLedger } from '../ledger/append-to-ledger.js';
import { type AppendedBatch, catchUpLedger } from '../ledger/apply-ledger.js';
import { batchRoot } from '../ledger/batch-tree.js';
import type { LedgerState } from '../ledger/ledger-state.js';
import { sortedTags, tagsRoot } from '../ledger/person-tags.js';
import { readCommitment } from '../ledger/roll-up.js';
import { areBatchRuns, namedRuns, runsOf, sortedLeaves } from '../ledger/runs.js';
import type { SealedLeaf } from '../ledger/sealed-leaf.js';

/** Content of a new Merkle batch. */
export interface BatchContent {
  /** In the order of the log. */
  readonly leaves: readonly SealedLeaf[];
  /**
   * Every event of a sealed stream up to this position is in this batch or an earlier one; null:
   * unknown.
   */
  readonly logPosition: Position | null;
}

/**
 * Builds the header of the batch that follows `state`.
 * @param leaves as `sortedLeaves` returns them
 * @throws RangeError if the leaves of a stream are not adjacent in revision, or a tag occurs twice
 */
export function nextHeader(state: LedgerState, leaves: readonly SealedLeaf[], now: Date): BatchHeader {
  const runs = runsOf(leaves);
  if (!areBatchRuns(runs)) throw new RangeError('the leaves of a stream are not adjacent in revision');
  const tags = sortedTags(leaves.flatMap(({ tag }) => tag ?? []));
  return {
    ...headerStart(state, now),
    level: 0,
    count: leaves.length,
    root: toHex(batchRoot(leaves.map((leaf) => leaf.hash))),
    streams_count: runs.length,
    streams_root: toHex(streamsRoot(tiledRuns(namedRuns(runs)))),
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

/** The newest time-stamp response, also that of a checkpoint that has too few. */
function newestResponse({ pending, stamped }: LedgerState): BatchHeader['after'] {
  const last = pending?.tokens.at(-1);
  if (pending !== null && last !== undefined) return { size: pending.size, sha256: last.sha256 };
  return stamped === null ? null : { size: stamped.size, sha256: stamped.sha256 };
}

interface SealOutcome {
  readonly state: LedgerState;
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
  state: LedgerState,
  content: BatchContent,
  now: Date,
): Promise<SealOutcome> {
  const before = await sealDueRollUp(db, eventLog, state, now);
  if (!before.sealed) return before;
  const leaves = sortedLeaves(content.leaves);
  const header = nextHeader(before.state, leaves, now);
  return append(db, eventLog, before.state, header, { ...content, leaves, covered: null });
}

/** Seals the roll-up that is due at `state`. @returns `sealed`: false if another sealer was first */
async function sealDueRollUp(db: Queryable, eventLog: EventLog, state: LedgerState, now: Date): Promise<SealOutcome> {
  const level = levelOf(state.size);
  if (level === 0) return { state, sealed: true };
  const covered = await readCommitment(db, state.size);
  const header = { ...headerStart(state, now), level, root: null, ...covered };
  return append(db, eventLog, state, header, { leaves: [], covered, logPosition: null });
}

async function append(
  db: Queryable,
  eventLog: EventLog,
  state: LedgerState,
  header: BatchHeader,
  known: Omit<AppendedBatch, 'eventId'>,
): Promise<SealOutcome> {
  const { leaves } = known;
  const event = ledgerEvent(BATCH_SEALED, {
    header: batchHeaderText(header),
    runs: runsOf(leaves).map((run) => [...run]),
    tags: toBase64(Buffer.concat(leaves.flatMap(({ tag }) => tag ?? []))),
  });
  await tryAppendToLedger(eventLog, state.revision, event);
  const after = await catchUpLedger(db, eventLog, { eventId: event.id, ...known });
  const { rowCount } = await db.query('select from ledger_events where revision = $1 and event_id = $2', [
    state.revision + 1,
    event.id,
  ]);
  return { state: after, sealed: rowCount === 1 };
}

/**
 * Seals a batch without leaves, which creates a tree size without a checkpoint. Renewals and key
 * rotations need one.
 * @returns the state in which the ledger is larger than its newest checkpoint with a time stamp, even if
 *   another process appended the batch
 * @throws the errors of `catchUpLedger` and `tryAppendToLedger`
 */
export async function sealEmptyBatch(
  db: Queryable,
  eventLog: EventLog,
  now: () => Date | Promise<Date>,
): Promise<LedgerState> {
  let state = await catchUpLedger(db, eventLog);
  while (state.size === (state.pending ?? state.stamped)?.size || state.size === 0) {
    ({ state } = await sealBatch(db, eventLog, state, { leaves: [], logPosition: null }, await now()));
  }
  return state;
}
