import {
  BATCH_SEALED,
  BatchSealedBody,
  CHECKPOINT_STAMPED,
  CheckpointStampedBody,
  LEDGER_KEY_PUBLISHED,
  LEDGER_RESTORED,
  LedgerKeyPublishedBody,
  LedgerRestoredBody,
} from '../../../schemas/events/ledger.js';
import { InvalidEventBody, parseBody } from '../../../schemas/events/sealed-event.js';
import { LEDGER_STREAM } from '../../../schemas/events/streams.js';
import type { Queryable } from '../../platform/database/pool.js';
import { withTransaction } from '../../platform/database/pool.js';
import type { EventLog, Position, StreamEvent } from '../event-log/port.js';
import { checkBatch, insertBatch, type KnownBatch } from './apply-batch.js';
import { checkCheckpoint, insertCheckpoint } from './apply-checkpoint.js';
import { LedgerCorrupt, LedgerMoved } from './errors.js';
import { type LedgerState, readLedgerState } from './ledger-state.js';

const PAGE = 50;

/** What was computed before the append of the batch or roll-up with this event id. */
export interface AppendedBatch extends KnownBatch {
  readonly eventId: string;
  /** Every event of a sealed stream up to this position is in this batch or an earlier one. */
  readonly logPosition: Position | null;
}

/**
 * Updates the tables to the end of the `ledger` stream. No other code changes these tables, whether
 * the event was appended by this process, by another one, or before a crash. Each event is checked
 * and applied in one transaction. Any number of processes may do this concurrently.
 * @returns the state at the end
 * @throws LedgerCorrupt, EventLogUnavailable, database errors
 */
export async function catchUpLedger(
  db: Queryable,
  eventLog: EventLog,
  known: AppendedBatch | null = null,
): Promise<LedgerState> {
  let state = await readLedgerState(db);
  for (;;) {
    const page = await eventLog.readStream(LEDGER_STREAM, state.revision + 1, PAGE);
    if (page.length === 0) return state;
    for (const event of page) {
      // Another process may have applied it in the meantime.
      if (event.revision <= state.revision) continue;
      try {
        await applyLedgerEvent(db, eventLog, state, event, known?.eventId === event.id ? known : null);
      } catch (error) {
        if (!(error instanceof LedgerMoved)) throw error;
      }
      state = await readLedgerState(db);
    }
  }
}

async function applyLedgerEvent(
  db: Queryable,
  eventLog: EventLog,
  state: LedgerState,
  event: StreamEvent,
  known: AppendedBatch | null,
): Promise<void> {
  const insert = await checkLedgerEvent(db, eventLog, state, event, known).catch(async (error: unknown) => {
    // The failed check counts only if the tables did not change during the comparison.
    const now = await readLedgerState(db);
    throw now.revision === state.revision ? error : new LedgerMoved(`the ledger is no longer at ${state.revision}`);
  });
  await withTransaction(db, async (db) => {
    const { rowCount } = await db.query(
      'update sealer_state set ledger_revision = $2, log_position = coalesce($3, log_position) where ledger_revision = $1',
      [state.revision, event.revision, known?.logPosition ?? null],
    );
    if (rowCount !== 1) throw new LedgerMoved(`the ledger is no longer at revision ${state.revision}`);
    await db.query('insert into ledger_events (revision, event_id, type, body) values ($1, $2, $3, $4)', [
      event.revision,
      event.id,
      event.type,
      event.data,
    ]);
    await insert(db);
  });
}

type Insert = (db: Queryable) => Promise<void>;

/**
 * Checks an event of the ledger and returns its change of the tables.
 * @throws LedgerCorrupt
 */
async function checkLedgerEvent(
  db: Queryable,
  eventLog: EventLog,
  state: LedgerState,
  event: StreamEvent,
  known: KnownBatch | null,
): Promise<Insert> {
  try {
    switch (event.type) {
      case BATCH_SEALED: {
        const body = parseBody(BatchSealedBody, event.type, event.data);
        const batch = await checkBatch(db, eventLog, state, body, known);
        return (db) => insertBatch(db, batch);
      }
      case CHECKPOINT_STAMPED: {
        const body = parseBody(CheckpointStampedBody, event.type, event.data);
        const bridge = await checkCheckpoint(db, state, body);
        return (db) => insertCheckpoint(db, body, bridge);
      }
      case LEDGER_KEY_PUBLISHED: {
        const body = parseBody(LedgerKeyPublishedBody, event.type, event.data);
        return (db) => insertKey(db, state, event.revision, body);
      }
      case LEDGER_RESTORED: {
        // The event changes no table. It documents in `ledger` why two histories exist.
        parseBody(LedgerRestoredBody, event.type, event.data);
        return async () => undefined;
      }
      default:
        throw new LedgerCorrupt(event.revision, `events of type ${event.type} do not belong there`);
    }
  } catch (error) {
    if (!(error instanceof InvalidEventBody)) throw error;
    throw new LedgerCorrupt(event.revision, error.message);
  }
}

async function insertKey(
  db: Queryable,
  state: LedgerState,
  revision: number,
  body: LedgerKeyPublishedBody,
): Promise<void> {
  if (body.replaces !== null) {
    // The bridging checkpoint has already inserted the key.
    const { rowCount } = await db.query(
      'select from ledger_keys where key = $1 and replaces = $2 and bridge_size = $3',
      [body.key, body.replaces.key, body.replaces.bridge_size],
    );
    if (rowCount === 1 && state.key === body.key) return;
  }
  if (body.replaces !== null || state.key !== null)
    throw new LedgerCorrupt(revision, 'the key does not follow the one before');
  await db.query('insert into ledger_keys (key, replaces, bridge_size, published_at) values ($1, null, null, $2)', [
    body.key,
    body.created_at,
  ]);
}
