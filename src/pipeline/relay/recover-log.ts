import type pg from 'pg';
import { z } from 'zod';
import { consentsStream, LEDGER_STREAM, noticesStream } from '../../../schemas/events/streams.js';
import { withTransaction } from '../../platform/database/pool.js';
import { assertGenuine, type ProofKeys } from '../../platform/keys/index.js';
import { appendExactlyOnce } from '../event-log/append-exactly-once.js';
import type { EventLog, NewEvent } from '../event-log/port.js';
import { assertSameEvent } from '../event-log/same-event.js';
import { streamEnds } from './log-check.js';
import { advanceStream, findWaiting, relayedRevision } from './outbox.js';

const PAGE = 200;

/** An event that the log has lost is not kept any more. */
export class LogNotRecoverable extends Error {
  override readonly name = 'LogNotRecoverable';
}

export interface LogRecovery {
  /** Streams that were filled again, and events appended for that. */
  readonly refilledStreams: number;
  readonly refilledEvents: number;
  /** Events in the log that this database did not know to be there. */
  readonly adoptedEvents: number;
}

/**
 * Makes log and database agree after one of them was restored from an older backup. What the log has lost is appended again from the kept
 * outbox rows and ledger events: same streams, revisions, ids and bytes. Of what the log has beyond this database, the log's end is taken
 * over, and parked sites are let go on. Then the sealer reads the log from its start once, and projections ask to be rebuilt: positions in the log mean something else now.
 * The service must be stopped. May be called again after a failure.
 * @throws LogNotRecoverable if an event that is missing in the log was deleted from the outbox; LogDiverged if the log was written by others;
 *   NotGenuine if an outbox row was altered
 */
export async function recoverLog(pool: pg.Pool, log: EventLog, keyring: ProofKeys): Promise<LogRecovery> {
  const found = { refilledStreams: 0, refilledEvents: 0, adoptedEvents: 0 };
  await forgetLogPositions(pool, 'the event log was recovered');
  const { rows } = await pool.query('select site_id as id from parked_sites');
  const parked = siteRows.parse(rows).map((row) => row.id);
  for await (const { stream, known, actual } of streamEnds(pool, log)) {
    if (actual >= known) continue;
    found.refilledStreams += 1;
    found.refilledEvents += await refill(pool, log, keyring, stream, actual, known);
  }
  for await (const siteId of allSites(pool)) {
    for (const stream of [consentsStream(siteId), noticesStream(siteId)]) {
      found.adoptedEvents += await adopt(pool, log, siteId, stream);
    }
  }
  await pool.query('delete from parked_sites where site_id = any($1::uuid[])', [parked]);
  return found;
}

/**
 * Says that positions in the log mean something else from now on, as after a recovery or a move to another log: the sealer reads it from its
 * start once, and every projection is built anew.
 * @param reason for `projections status`
 */
async function forgetLogPositions(pool: pg.Pool, reason: string): Promise<void> {
  await withTransaction(pool, async (client) => {
    await client.query('update sealer_state set log_position = null');
    await client.query(`update projections set state = 'needs_rebuild', problem = $1, changed_at = now()`, [
      JSON.stringify({ reason }),
    ]);
  });
}

async function refill(
  pool: pg.Pool,
  log: EventLog,
  keyring: ProofKeys,
  stream: string,
  from: number,
  to: number,
): Promise<number> {
  let revision = from;
  while (revision < to) {
    const kept = await keptEvents(pool, stream, revision);
    if (kept.length === 0) {
      throw new LogNotRecoverable(
        `event ${revision + 1} of stream ${stream} is neither in the event log nor in the database: ` +
          'restore a newer backup of the event log.',
      );
    }
    if (stream !== LEDGER_STREAM) for (const event of kept) await assertGenuine({ ...event, stream }, keyring);
    await appendExactlyOnce(log, stream, revision, kept);
    revision += kept.length;
  }
  return to - from;
}

const keptRows = z.array(
  z
    .object({ revision: z.int(), event_id: z.string(), type: z.string(), body: z.instanceof(Uint8Array) })
    .transform((row) => ({
      revision: row.revision,
      event: { id: row.event_id, type: row.type, data: row.body, metadata: new Uint8Array(0) },
    })),
);

/** The kept events behind a revision, as far as there is no gap. */
async function keptEvents(pool: pg.Pool, stream: string, behind: number): Promise<NewEvent[]> {
  const { rows } =
    stream === LEDGER_STREAM
      ? await pool.query(
          'select revision, event_id, type, body from ledger_events where revision > $1 order by revision limit $2',
          [behind, PAGE],
        )
      : await pool.query(
          `select revision, event_id, type, body from outbox
            where stream = $1 and revision > $2 order by revision limit $3`,
          [stream, behind, PAGE],
        );
  return keptRows
    .parse(rows)
    .filter(({ revision }, place) => revision === behind + 1 + place)
    .map(({ event }) => event);
}

/**
 * Takes over what the log has of a stream beyond this database: events that wait in the outbox are marked as relayed, of the others the
 * revision is taken.
 * @returns events found
 */
async function adopt(pool: pg.Pool, log: EventLog, siteId: string, stream: string): Promise<number> {
  let adopted = 0;
  for (;;) {
    const known = await relayedRevision(pool, stream);
    const found = await log.readStream(stream, known + 1, PAGE);
    if (found.length === 0) return adopted;
    const waiting = await findWaiting(
      pool,
      siteId,
      found.map((event) => event.id),
    );
    const own = found.flatMap((event) => {
      const row = waiting.get(event.id);
      if (row === undefined) return [];
      assertSameEvent(row.event, event);
      return [{ seq: row.seq, revision: event.revision }];
    });
    await withTransaction(pool, async (client) => {
      await advanceStream(client, stream, known, known + found.length);
      await client.query(
        `update outbox o set revision = given.revision
           from unnest($1::bigint[], $2::bigint[]) as given (seq, revision) where o.seq = given.seq`,
        [own.map((row) => row.seq), own.map((row) => row.revision)],
      );
    });
    adopted += found.length;
  }
}

const siteRows = z.array(z.object({ id: z.string() }));

async function* allSites(pool: pg.Pool): AsyncGenerator<string, void, undefined> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const { rows } = await pool.query('select id from sites where id > $1 order by id limit $2', [after, PAGE]);
    const page = siteRows.parse(rows);
    for (const { id } of page) yield id;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}
