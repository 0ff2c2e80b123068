import * as z from 'zod';
import { BATCH_SEALED, BatchSealedBody } from '../../../schemas/events/ledger.js';
import { PublicEventBody } from '../../../schemas/events/notices.js';
import { InvalidEventBody, isConsentType, parseBody, parseRecord } from '../../../schemas/events/sealed-event.js';
import { consentsStream, LEDGER_STREAM, noticesStream, siteOfStream } from '../../../schemas/events/streams.js';
import { SUBJECT_ERASED } from '../../../schemas/events/subject-erased.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { recordsWithoutKey } from '../../platform/database/shared-statements.js';
import { assertGenuine, type ProofKeys } from '../../platform/keys/index.js';
import { appendExactlyOnce } from '../event-log/append-exactly-once.js';
import { AppendRefused } from '../event-log/errors.js';
import { assertSameEvent, isForeign } from '../event-log/event-checks.js';
import type { EventLog, StreamEvent } from '../event-log/port.js';
import { catchUpLedger } from '../ledger/apply-ledger.js';
import { streamEnds } from './log-check.js';
import { storedEvents } from './placement.js';
import { loggedRevision } from './waiting.js';

const PAGE = 200;

/** Events of a stream that neither the log nor the database has, or that can no longer be appended. */
export interface MissingEvents {
  readonly stream: string;
  readonly firstRevision: number;
  readonly lastRevision: number;
}

/** An event that the service cannot have written. Neither the event nor the rest of its stream is adopted. */
export interface ForeignEvent {
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
}

export interface LogRecovery {
  /** Number of streams that were refilled. `refilledEvents` counts the events appended to them. */
  readonly refilledStreams: number;
  readonly refilledEvents: number;
  /** Number of events in the log that this database had not recorded. */
  readonly adoptedEvents: number;
  /** Events that cannot be recovered. */
  readonly missing: readonly MissingEvents[];
  /** The first foreign event of each stream that has any. */
  readonly foreign: readonly ForeignEvent[];
  /** Lost keys among the adopted events, and of sites that this database does not have. */
  readonly lostKeys: readonly LostKeys[];
}

/**
 * Reconciles log and database after one of them was restored from an older backup. Events that the log lost are
 * appended again from the stored ones, with the same streams, revisions, ids and bytes. For events that only the log
 * has, the database adopts the end of the log, and waiting events follow it. The tables of the ledger then have
 * everything that the log has. Quarantined sites are released, except those that lack events or have one that another
 * program wrote. Events that a server removed before events that are still there cannot be appended again. Positions in
 * the log change their meaning. Therefore the sealer reads the log from its start once, and the projections require a
 * rebuild. The service must be stopped. After a failure, call the function again. It counts lost keys among the events
 * that it adopts; `consent-ledger audit` counts all of them at any time.
 * @param journaled event ids of the records that the erasure journal lists as erased
 * @throws LogDiverged if the log has a different event at the position of an event of the database
 * @throws NotGenuine if a stored event was altered
 * @throws the errors of `catchUpLedger`
 */
export async function recoverLog(
  db: Queryable,
  eventLog: EventLog,
  keyring: ProofKeys,
  journaled: ReadonlySet<string> = new Set(),
): Promise<LogRecovery> {
  const found = { refilledStreams: 0, refilledEvents: 0, adoptedEvents: 0 };
  const missing: MissingEvents[] = [];
  const foreign: ForeignEvent[] = [];
  const keys = new LostKeyCounter(db, journaled);
  let unknownSites: readonly LostKeys[] = [];
  let isLedgerAhead = false;
  await forgetLogPositions(db, 'the event log was recovered');
  const { rows } = await db.query('select site_id as id from quarantined_sites');
  const quarantined = siteRows.parse(rows).map((row) => row.id);
  for await (const { stream, known, first, actual } of streamEnds(db, eventLog)) {
    if (first > 0) missing.push({ stream, firstRevision: 0, lastRevision: first - 1 });
    if (stream === LEDGER_STREAM && actual > known) {
      isLedgerAhead = true;
      unknownSites = await findUnknownSites(db, eventLog, known);
    }
    if (actual >= known) continue;
    const reached = await refill(db, eventLog, keyring, stream, actual, known);
    if (reached < known) missing.push({ stream, firstRevision: reached + 1, lastRevision: known });
    if (reached === actual) continue;
    found.refilledStreams += 1;
    found.refilledEvents += reached - actual;
  }
  for await (const siteId of allSites(db)) {
    for (const stream of [consentsStream(siteId), noticesStream(siteId)]) {
      const { adopted, stoppedAt } = await adopt(db, eventLog, stream, (events) => keys.take(siteId, events));
      found.adoptedEvents += adopted;
      if (stoppedAt !== null) foreign.push({ stream, revision: stoppedAt.revision, type: stoppedAt.type });
    }
  }
  const incomplete = new Set([...missing, ...foreign].map(({ stream }) => siteOfStream(stream)));
  await db.query('delete from quarantined_sites where site_id = any($1::uuid[])', [
    quarantined.filter((siteId) => !incomplete.has(siteId)),
  ]);
  // Brings the tables up to date, because a process that does not seal compares them with the ledger's head. Nothing
  // after an event that another program wrote can have been sealed.
  if (isLedgerAhead && missing.length === 0) await catchUpLedger(db, eventLog);
  return { ...found, missing, foreign, lostKeys: [...keys.found(), ...unknownSites] };
}

/**
 * Invalidates the stored log positions, as after a recovery or a move to another log. The sealer
 * then reads the log from its start once, and every projection is rebuilt.
 * @param reason shown by `projections status`
 */
async function forgetLogPositions(db: Queryable, reason: string): Promise<void> {
  await withTransaction(db, async (db) => {
    await db.query('update sealer_state set log_position = null');
    await db.query(`update projections set state = 'needs_rebuild', problem = $1, changed_at = now()`, [
      JSON.stringify({ reason }),
    ]);
  });
}

/** @returns the last revision that the log has now */
async function refill(
  db: Queryable,
  eventLog: EventLog,
  keyring: ProofKeys,
  stream: string,
  from: number,
  to: number,
): Promise<number> {
  let revision = from;
  while (revision < to) {
    const kept = await storedEvents(db, stream, revision, PAGE);
    if (kept.length === 0) break;
    if (stream !== LEDGER_STREAM) for (const event of kept) await assertGenuine({ ...event, stream }, keyring);
    try {
      await appendExactlyOnce(eventLog, stream, revision, kept);
    } catch (error) {
      // The stream was permanently deleted.
      if (error instanceof AppendRefused) break;
      throw error;
    }
    revision += kept.length;
  }
  return revision;
}

const waitingRows = z.array(z.object({ id: z.string(), type: z.string(), data: z.instanceof(Uint8Array) }));

/**
 * Adopts the end of a stream that the log has beyond this database. Waiting events that are in the log are marked as
 * relayed, and the others follow its end.
 * @param onFound called with each page of events that the log has beyond this database
 * @returns number of events found, and the foreign event that ended the search, or null if the search reached the end
 * of the log
 */
async function adopt(
  db: Queryable,
  eventLog: EventLog,
  stream: string,
  onFound: (events: readonly StreamEvent[]) => Promise<void>,
): Promise<{ readonly adopted: number; readonly stoppedAt: StreamEvent | null }> {
  const known = await loggedRevision(db, stream);
  const present: string[] = [];
  let end = known;
  for (;;) {
    const read = await eventLog.readStream(stream, end + 1, PAGE);
    const stoppedAt = read.find(isForeign) ?? null;
    const found = stoppedAt === null ? read : read.slice(0, read.indexOf(stoppedAt));
    const { rows } = await db.query(
      'select id, type, data from event_log.waiting_events where stream = $1 and id = any($2::uuid[])',
      [stream, found.map((event) => event.id)],
    );
    const waiting = new Map(waitingRows.parse(rows).map((row) => [row.id, row]));
    for (const event of found) {
      const own = waiting.get(event.id);
      if (own === undefined) continue;
      assertSameEvent({ ...own, metadata: new Uint8Array(0) }, event);
      present.push(event.id);
    }
    await onFound(found);
    end += found.length;
    if (found.length > 0 && stoppedAt === null) continue;
    if (end > known)
      await db.query('select event_log.rebase($1, $2, $3::uuid[], $4::uuid[])', [stream, end, present, []]);
    return { adopted: end - known, stoppedAt };
  }
}

const siteRows = z.array(z.object({ id: z.string() }));

async function* allSites(db: Queryable): AsyncGenerator<string, void, undefined> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const { rows } = await db.query('select id from sites where id > $1 order by id limit $2', [after, PAGE]);
    const page = siteRows.parse(rows);
    for (const { id } of page) yield id;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

/** Records of a site whose personal values can no longer be read, because their keys were only in the database. */
export interface LostKeys {
  readonly siteId: string;
  readonly records: number;
  /** False if the site itself was created after the backup and is missing. Its events stay in the log. */
  readonly isSiteKnown: boolean;
}

/** Counts, among the events of a site that only the log has, the records without a key that are not erased. */
class LostKeyCounter {
  readonly #lost = new Map<string, Set<string>>();

  /** @param journaled event ids of the records that the erasure journal lists as erased */
  constructor(
    readonly db: Queryable,
    readonly journaled: ReadonlySet<string>,
  ) {}

  /** Takes events of a stream in their order. */
  async take(siteId: string, events: readonly StreamEvent[]): Promise<void> {
    const lost = this.#lost.get(siteId) ?? new Set();
    const consents = events.filter(({ type }) => isConsentType(type)).map(({ id }) => id);
    for (const id of await recordsWithoutKey(this.db, consents)) if (!this.journaled.has(id)) lost.add(id);
    for (const event of events) {
      const erased = erasedBy(event);
      if (erased !== null) lost.delete(erased);
    }
    this.#lost.set(siteId, lost);
  }

  /** The sites with lost keys, in the order in which they were taken. */
  found(): readonly LostKeys[] {
    return [...this.#lost].flatMap(([siteId, { size: records }]) =>
      records === 0 ? [] : [{ siteId, records, isSiteKnown: true }],
    );
  }
}

/** Returns the record that an event announces as erased, or null if it announces none. */
function erasedBy({ type, data }: StreamEvent): string | null {
  if (type !== SUBJECT_ERASED) return null;
  return parseRecord(SUBJECT_ERASED, parseBody(PublicEventBody, type, data).record).erased_event_id;
}

const IdRows = z.array(z.object({ id: z.string() }));

/**
 * Counts the records of sites that the ledger names after a revision but this database does not have, because they were
 * created after the backup.
 */
async function findUnknownSites(db: Queryable, eventLog: EventLog, after: number): Promise<readonly LostKeys[]> {
  const sealed = new Set<string>();
  for await (const { type, data } of eventsOf(eventLog, LEDGER_STREAM, after + 1))
    if (type === BATCH_SEALED) for (const siteId of sitesOf(type, data)) sealed.add(siteId);
  const { rows } = await db.query(
    'select id::text from unnest($1::uuid[]) as sealed (id) where not exists (select from sites s where s.id = sealed.id)',
    [[...sealed]],
  );
  const counts: LostKeys[] = [];
  for (const { id: siteId } of IdRows.parse(rows)) {
    let records = 0;
    for await (const { type } of eventsOf(eventLog, consentsStream(siteId), 0)) if (isConsentType(type)) records += 1;
    counts.push({ siteId, records, isSiteKnown: false });
  }
  return counts;
}

/**
 * Returns the sites of a Merkle batch. An event that cannot be applied to the ledger names none; the worker will report
 * it.
 */
function sitesOf(type: string, data: Uint8Array): readonly string[] {
  try {
    return parseBody(BatchSealedBody, type, data).runs.flatMap(([stream]) => siteOfStream(stream) ?? []);
  } catch (error) {
    if (error instanceof InvalidEventBody) return [];
    throw error;
  }
}

async function* eventsOf(eventLog: EventLog, stream: string, from: number): AsyncGenerator<StreamEvent, void> {
  for (let next = from; ; ) {
    const page = await eventLog.readStream(stream, next, PAGE);
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    next = last.revision + 1;
  }
}
