import { toHex } from '../../../schemas/crypto/encoding.js';
import { BATCH_SEALED } from '../../../schemas/events/ledger.js';
import { type BatchHeader, batchHeaderText, streamsRoot } from '../../../schemas/evidence/batch-header.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { EventLog, Position } from '../event-log/port.js';
import { ledgerEvent, tryAppendToLedger } from '../ledger/append-to-ledger.js';
import { catchUpLedger } from '../ledger/apply-ledger.js';
import { batchRoot } from '../ledger/batch-tree.js';
import type { LedgerState } from '../ledger/ledger-state.js';
import { mergeRuns, runsOf } from '../ledger/runs.js';
import type { SealedLeaf } from '../ledger/sealed-leaf.js';

/** Content of a new Merkle batch. */
export interface BatchContent {
  readonly leaves: readonly SealedLeaf[];
  /**
   * Every event of a sealed stream up to this position is in this batch or an earlier one; null:
   * unknown.
   */
  readonly logPosition: Position | null;
}

/** Builds the header of the batch that follows `state`. */
export function nextHeader(state: LedgerState, leaves: readonly SealedLeaf[], now: Date): BatchHeader {
  const runs = mergeRuns(runsOf(leaves));
  if (runs === null) throw new RangeError('the leaves of a stream are not adjacent in revision');
  return {
    v: 1,
    number: state.size,
    count: leaves.length,
    root: toHex(batchRoot(leaves.map((leaf) => leaf.hash))),
    streams_root: toHex(streamsRoot(runs)),
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

/**
 * Seals a Merkle batch after `state`, unless another sealer was first, and updates the tables to
 * the end of the ledger.
 * @returns the state afterwards; `sealed` tells whether this call sealed the batch
 */
export async function sealBatch(
  db: Queryable,
  eventLog: EventLog,
  state: LedgerState,
  content: BatchContent,
  now: Date,
): Promise<{ readonly state: LedgerState; readonly sealed: boolean }> {
  const header = batchHeaderText(nextHeader(state, content.leaves, now));
  const event = ledgerEvent(BATCH_SEALED, { header, runs: runsOf(content.leaves).map((run) => [...run]) });
  await tryAppendToLedger(eventLog, state.revision, event);
  const after = await catchUpLedger(db, eventLog, { eventId: event.id, ...content });
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
