import * as z from 'zod';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import type {
  CheckpointStampedBody,
  EvidenceKeptBody,
  LedgerKeyPublishedBody,
} from '../../../schemas/events/ledger.js';
import { LEDGER_STREAM } from '../../../schemas/events/streams.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { LogBehind } from '../event-log/errors.js';
import type { EventLog, Position, StreamEvent } from '../event-log/port.js';
import { type CheckedBatch, checkBatch, insertBatch } from './apply-batch.js';
import { LedgerCorrupt, LedgerMoved, TablesDiffer } from './errors.js';
import { type FollowedEvent, followEvent, type KeyHandover, type LedgerChange } from './ledger-rules.js';
import type { FollowedLedger, StreamHeads } from './ledger-state.js';
import { openLedger } from './open-ledger.js';
import { skipOf } from './read-ledger.js';

const PAGE = 50;

/** A batch or roll-up that was checked before the append of the event with this id. */
export interface AppendedBatch {
  readonly eventId: string;
  readonly batch: CheckedBatch;
  /** Every event of a sealed stream up to this position is in this batch or an earlier one. */
  readonly logPosition: Position | null;
}

export interface CatchUpOptions {
  /** The ledger as the caller followed it so far. If omitted, it is read from the log. */
  readonly from?: FollowedLedger | null;
  readonly known?: AppendedBatch;
  /** Last revision to follow; the default is the end of the stream. */
  readonly last?: number;
}

/**
 * Follows the `ledger` stream to its end, and updates the tables by it. No other code changes these
 * tables, whether the event was appended by this process, by another one, or before a crash. Each event
 * is checked and applied in one transaction. Any number of processes may do this concurrently.
 * @returns the ledger at the end
 * @throws LedgerCorrupt, LogBehind; TablesDiffer, EventLogUnavailable, database errors
 */
export async function catchUpLedger(
  db: Queryable,
  eventLog: EventLog,
  { from = null, known, last = Number.MAX_SAFE_INTEGER }: CatchUpOptions = {},
): Promise<FollowedLedger> {
  let stored = await readStored(db);
  let state = from ?? (await openLedger(db, eventLog, stored.revision));
  if (stored.revision < state.revision)
    throw new TablesDiffer('sealer_state', 'true', `it is at revision ${stored.revision}, before ${state.revision}`);
  for (;;) {
    const page = await eventLog.readStream(LEDGER_STREAM, state.revision + 1, Math.min(PAGE, last - state.revision));
    for (const event of page) {
      const own = known?.eventId === event.id ? known : undefined;
      const check = (isNew: boolean): Promise<CheckedEvent> => checkEvent(db, eventLog, state, event, isNew, own);
      const { followed, insert, heads } = await check(event.revision > stored.revision).catch(
        async (error: unknown) => {
          // A check against the tables counts only if no other process changed them meanwhile.
          stored = await readStored(db);
          if (stored.revision < event.revision) throw error;
          return check(false);
        },
      );
      if (insert !== null) stored = await store(db, event, insert, own?.logPosition ?? null);
      forgetOrRemember(state, followed.change, heads);
      state = followed.state;
    }
    if (page.length > 0 && state.revision < last) continue;
    if (stored.revision > state.revision && state.revision < last)
      throw new LogBehind(LEDGER_STREAM, stored.revision, state.revision);
    return { ...state, logPosition: stored.logPosition };
  }
}

type Insert = (db: Queryable) => Promise<void>;

interface CheckedEvent {
  readonly followed: FollowedEvent;
  /** Null if the tables already have the event. */
  readonly insert: Insert | null;
  /** Ends of the streams of a batch. */
  readonly heads: StreamHeads | null;
}

/** @throws LedgerCorrupt unless a later event of the stream skips this event */
async function checkEvent(
  db: Queryable,
  eventLog: EventLog,
  state: FollowedLedger,
  event: StreamEvent,
  isNew: boolean,
  own: AppendedBatch | undefined,
): Promise<CheckedEvent> {
  try {
    const followed = await followEvent(state, event);
    if (!isNew) return { followed, insert: null, heads: null };
    return { followed, ...(await insertOf(db, eventLog, state, followed.change, own)) };
  } catch (error) {
    if (!(error instanceof LedgerCorrupt) || !(await isSkipped(eventLog, event))) throw error;
    const skipped = { ...state, revision: event.revision, skipped: [...state.skipped, event.revision] };
    const followed: FollowedEvent = { state: skipped, change: { kind: 'note' } };
    return { followed, insert: isNew ? async () => undefined : null, heads: null };
  }
}

/** Returns whether an operator decided that the event is to be ignored. */
async function isSkipped(eventLog: EventLog, { revision, id, data }: StreamEvent): Promise<boolean> {
  for (let next = revision + 1; ; ) {
    const page = await eventLog.readStream(LEDGER_STREAM, next, PAGE);
    if (page.length === 0) return false;
    const digest = toHex(sha256(data));
    const skips = page.flatMap((event) => skipOf(event) ?? []);
    if (skips.some((skip) => skip.revision === revision && skip.event_id === id && skip.sha256 === digest)) return true;
    next += page.length;
  }
}

async function insertOf(
  db: Queryable,
  eventLog: EventLog,
  state: FollowedLedger,
  change: LedgerChange,
  own: AppendedBatch | undefined,
): Promise<Pick<CheckedEvent, 'insert' | 'heads'>> {
  switch (change.kind) {
    case 'batch': {
      const batch = own?.batch ?? (await checkBatch(db, eventLog, state, change.header, change.body, null));
      return { insert: (db) => insertBatch(db, batch, state.tree), heads: batch.heads };
    }
    case 'stamp':
      return { insert: (db) => insertCheckpoint(db, change.body, change.handover), heads: null };
    case 'evidence':
      return { insert: (db) => insertEvidence(db, change.body), heads: null };
    case 'first-key':
      return { insert: (db) => insertFirstKey(db, change.body), heads: null };
    case 'note':
      return { insert: async () => undefined, heads: null };
  }
}

/** @returns the revision that the tables have reached; another process may have been first */
async function store(
  db: Queryable,
  event: StreamEvent,
  insert: Insert,
  position: Position | null,
): Promise<StoredPlace> {
  try {
    return await withTransaction(db, async (db) => {
      const { rows } = await db.query(
        `update sealer_state set ledger_revision = $2, log_position = coalesce($3, log_position)
          where ledger_revision = $1 returning ledger_revision, log_position`,
        [event.revision - 1, event.revision, position],
      );
      const [stored] = StoredRows.parse(rows);
      if (stored === undefined) throw new LedgerMoved(`the ledger is no longer at revision ${event.revision - 1}`);
      await db.query('insert into ledger_events (revision, event_id, type, body) values ($1, $2, $3, $4)', [
        event.revision,
        event.id,
        event.type,
        event.data,
      ]);
      await insert(db);
      return stored;
    });
  } catch (error) {
    if (!(error instanceof LedgerMoved)) throw error;
    const stored = await readStored(db);
    if (stored.revision >= event.revision) return stored;
    throw new TablesDiffer(
      'sealer_state',
      'true',
      `it is at revision ${stored.revision}, before ${event.revision - 1}`,
    );
  }
}

/** The last event of the ledger that the tables contain. The row only states where to continue. */
interface StoredPlace {
  readonly revision: number;
  readonly logPosition: Position | null;
}

const StoredRows = z
  .array(
    z
      .object({ ledger_revision: z.int(), log_position: z.string().nullable() })
      .transform((row): StoredPlace => ({ revision: row.ledger_revision, logPosition: row.log_position })),
  )
  .max(1);

async function readStored(db: Queryable): Promise<StoredPlace> {
  const [stored] = StoredRows.parse((await db.query('select ledger_revision, log_position from sealer_state')).rows);
  if (stored === undefined) throw new TablesDiffer('sealer_state', 'true', 'the row is missing');
  return stored;
}

/**
 * Remembers the ends of streams that this process checked, and forgets those that another process moved: these are read
 * when needed.
 */
function forgetOrRemember({ heads }: FollowedLedger, change: LedgerChange, checked: StreamHeads | null): void {
  if (change.kind !== 'batch') return;
  if (checked === null) heads.forget(change.body.runs.map(([stream]) => stream));
  else for (const [stream, head] of checked.entries()) heads.set(stream, head);
}

async function insertFirstKey(db: Queryable, body: LedgerKeyPublishedBody): Promise<void> {
  await db.query('insert into ledger_keys (key, ml_dsa_key, published_at, salt_key) values ($1, $2, $3, $4)', [
    body.key,
    body.ml_dsa_key,
    body.created_at,
    body.salt_key,
  ]);
}

/**
 * Stores a checked time stamp. If it is the last one of the quorum, also stores the checkpoint and the keys that it
 * hands over to. From then on only these keys sign.
 * @param db a handle in a transaction that locks the row of `sealer_state`
 */
async function insertCheckpoint(
  db: Queryable,
  body: CheckpointStampedBody,
  handover: KeyHandover | null,
): Promise<void> {
  await db.query(
    `insert into checkpoint_tokens
       (size, number, note, tsr, tsr_sha256, gen_time, authority, organization, certificates, crls, ocsp)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      body.size,
      body.number,
      body.note,
      body.tsr,
      toHex(sha256(body.tsr)),
      body.gen_time,
      body.authority,
      body.organization,
      body.certificates,
      body.crls,
      body.ocsp,
    ],
  );
  if (body.number < body.quorum) return;
  await db.query(
    `insert into checkpoints (size, note, tokens, gen_time, authorities, certificates, crls, ocsp)
     select size, min(note), count(*), min(gen_time), array_agg(authority order by number),
            array(select distinct unnest(certificates) from checkpoint_tokens where size = $1 order by 1),
            array(select distinct unnest(crls) from checkpoint_tokens where size = $1 order by 1),
            array(select distinct unnest(ocsp) from checkpoint_tokens where size = $1 order by 1)
       from checkpoint_tokens where size = $1 group by size`,
    [body.size],
  );
  if (handover === null) return;
  await db.query(
    `insert into ledger_keys (key, ml_dsa_key, replaces, announced_in, handover_size, published_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [handover.key, handover.mlDsaKey, handover.replaces, handover.revision, body.size, body.gen_time],
  );
}

/**
 * Stores a part of what evidence needs. An existing part stays, because two processes may have added the same item.
 * @param db a handle in a transaction that locks the row of `sealer_state`
 */
async function insertEvidence(db: Queryable, { sha256, kind, part, parts, data }: EvidenceKeptBody): Promise<void> {
  await db.query(
    `insert into evidence_parts (sha256, parts, part, kind, bytes) values ($1, $2, $3, $4, $5)
     on conflict (sha256, parts, part) do nothing`,
    [sha256, parts, part, kind, data],
  );
}
