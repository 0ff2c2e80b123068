import * as z from 'zod';
import { consentsStream, LEDGER_STREAM, noticesStream, POLICY_STREAM } from '../../../schemas/events/streams.js';
import { int4Array, int8Array, uuidArray } from '../../platform/database/parameters.js';
import type { Queryable } from '../../platform/database/pool.js';
import { nextRun } from '../event-log/append-exactly-once.js';
import { AppendRefused, AppendTooLarge, LogBehind, LogDiverged, RevisionConflict } from '../event-log/errors.js';
import { assertSameEvent } from '../event-log/event-checks.js';
import { type AppendOutcome, type EventLog, type NewEvent, NO_STREAM, type StreamAppend } from '../event-log/port.js';
import { firstEventsOf, loggedRevision, loggedRevisions, markRelayed, orMoved, type WaitingRow } from './waiting.js';

/** Consecutive waiting rows of one stream, at consecutive revisions. */
export interface Run {
  readonly siteId: string;
  readonly stream: string;
  readonly rows: readonly WaitingRow[];
}

/** Result of placing a run: how many of its events the log has now, and why not all, or null if it has all of them. */
interface Placed {
  readonly events: number;
  readonly failure: unknown;
}

/** How events of the outbox enter a log. */
export interface Placement {
  /**
   * Compares the streams of sites with the log, if that is necessary before their events are read.
   * @returns the sites whose events must not be placed now, and why
   */
  prepare(siteIds: readonly string[]): Promise<ReadonlyMap<string, unknown>>;
  /**
   * Places runs of different sites. The failure of one does not affect the others.
   * @returns one result for each run, in order
   * @throws StreamMoved, database errors; the caller then tries everything again
   */
  place(runs: readonly Run[]): Promise<readonly Placed[]>;
  /** Clears what was cached. */
  forget(): void;
}

export function countOf({ rows }: Run): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}

/**
 * The log refuses the next event of this site permanently. The relay of the site stops until an
 * operator releases it.
 */
export class RefusedForGood extends Error {
  override readonly name = 'RefusedForGood';
}

/** Returns the failure, or the permanent error that it stands for. */
export function refusal(error: unknown): unknown {
  const isPermanent = error instanceof AppendRefused || error instanceof AppendTooLarge || error instanceof TypeError;
  return isPermanent ? new RefusedForGood(error.message, { cause: error }) : error;
}

const refusedRow = z.tuple([z.object({ refused: z.array(z.coerce.number().nullable()) })]);

/**
 * Creates the placement for the `postgres` log: events get their positions and stay where they are.
 * @param db a handle in the role `consent_ledger_worker`
 */
export function sequenceRuns(db: Queryable): Placement {
  return {
    prepare: async () => new Map(),
    place: async (runs): Promise<readonly Placed[]> => {
      const waiting = runs.flatMap(({ rows }, place) => rows.map((row) => ({ ...row, owner: place + 1 })));
      const { rows } = await orMoved(() =>
        db.query({
          name: 'relay_sequence',
          text: `select event_log.sequence($1::integer[], $2::bigint[], $3::integer[], $4::integer[], $5::uuid[], $6::bigint[]) as refused`,
          values: [
            int4Array(runs.map(({ rows: [first] }) => first?.streamNumber ?? 0)),
            int8Array(runs.map(({ rows: [first] }) => first?.revision ?? 0)),
            int4Array(runs.map(countOf)),
            int4Array(waiting.map(({ owner }) => owner)),
            uuidArray(waiting.map(({ siteId }) => siteId)),
            int8Array(waiting.map(({ number }) => number)),
          ],
        }),
      );
      const [{ refused }] = refusedRow.parse(rows);
      return runs.map((run, place) => {
        const last = refused[place] ?? null;
        if (last === null) return { events: countOf(run), failure: null };
        return { events: 0, failure: new LogBehind(run.stream, (run.rows[0]?.revision ?? 0) - 1, last) };
      });
    },
    forget: () => undefined,
  };
}

/** Number of streams that are remembered as in step. Beyond it, all are compared again. */
const MAX_CACHED_STREAMS = 100_000;

/**
 * Creates the placement for a log outside the database: events are appended there, each at its revision.
 * @param db a handle in the role `consent_ledger_worker`
 */
export function appendRuns(db: Queryable, eventLog: EventLog): Placement {
  return new AppendedRuns(db, eventLog);
}

class AppendedRuns implements Placement {
  /** Streams for which the log agrees with the database, and no append has failed since. */
  readonly #inStep = new Set<string>();

  constructor(
    private readonly db: Queryable,
    private readonly eventLog: EventLog,
  ) {}

  forget(): void {
    this.#inStep.clear();
  }

  /**
   * Compares streams that are not known to be in step. If the log has more than is recorded, for example after a lost
   * response or a crash, the events are first compared and recorded.
   */
  async prepare(siteIds: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
    const { db, eventLog } = this;
    if (this.#inStep.size > MAX_CACHED_STREAMS) this.#inStep.clear();
    const unknown = siteIds
      .flatMap((siteId) => [consentsStream(siteId), noticesStream(siteId)].map((stream) => ({ siteId, stream })))
      .filter(({ stream }) => !this.#inStep.has(stream));
    const failures = new Map<string, unknown>();
    if (unknown.length === 0) return failures;
    const streams = unknown.map(({ stream }) => stream);
    const logged = await loggedRevisions(db, streams);
    let inLog: ReadonlyMap<string, number>;
    try {
      inLog = await eventLog.lastRevisions(streams);
    } catch (error) {
      for (const { siteId } of unknown) failures.set(siteId, error);
      return failures;
    }
    for (const { siteId, stream } of unknown) {
      try {
        if ((inLog.get(stream) ?? NO_STREAM) > (logged.get(stream) ?? NO_STREAM))
          await reconcile(db, eventLog, siteId, stream);
        this.#inStep.add(stream);
      } catch (error) {
        failures.set(siteId, error instanceof LogDiverged ? divergence(error) : error);
      }
    }
    return failures;
  }

  async place(runs: readonly Run[]): Promise<readonly Placed[]> {
    const tried = runs.map((run) => this.#appendOf(run));
    const appends = tried.flatMap(({ append }) => append ?? []);
    const outcomes = await this.eventLog.appendAll(appends);
    const outcomeOf = new Map(appends.map((append, place) => [append, outcomes[place]]));
    const placed = tried.map(({ append, failure }): Placed => {
      if (append === null) return { events: 0, failure };
      const failed = failureOf(outcomeOf.get(append));
      return { events: failed === null ? append.events.length : 0, failure: failed };
    });
    await markRelayed(
      this.db,
      runs.flatMap(({ rows }, place) => firstEventsOf(rows, placed[place]?.events ?? 0)),
    );
    for (const [place, { stream }] of runs.entries()) if (placed[place]?.failure === null) this.#inStep.add(stream);
    return placed;
  }

  /** Returns the append of the first events of a run, as many as one append accepts. Null if it accepts none. */
  #appendOf({ stream, rows }: Run): { readonly append: StreamAppend | null; readonly failure: unknown } {
    this.#inStep.delete(stream);
    const expectedRevision = (rows[0]?.revision ?? 0) - 1;
    try {
      const events = nextRun(
        rows.flatMap((row) => row.events),
        0,
        this.eventLog.maxAppendBytes,
      );
      return { append: { stream, expectedRevision, events }, failure: null };
    } catch (failure) {
      return { append: null, failure };
    }
  }
}

function divergence(error: LogDiverged): RefusedForGood {
  return new RefusedForGood(
    `${error.message}. If the database was restored from an older backup, run \`consent-ledger admin log recover\`.`,
    { cause: error },
  );
}

/** Returns why an append failed, or null if it did not. */
function failureOf(outcome: AppendOutcome | undefined): unknown {
  if (outcome?.status === 'fulfilled') return null;
  const reason: unknown = outcome?.reason;
  if (reason instanceof RevisionConflict && reason.actualRevision < reason.expectedRevision) {
    return new LogBehind(reason.stream, reason.expectedRevision, reason.actualRevision);
  }
  return reason;
}

const PAGE = 200;

const waitingRows = z.array(z.object({ number: z.int(), revision: z.int(), count: z.int() }));

/**
 * Records which waiting events of a stream the log already contains, for example after a lost response or a crash
 * between append and record. Each is compared by id and bytes with the waiting event of the same revision.
 * @throws LogDiverged if the log has another event there
 * @throws EventLogUnavailable, StreamMoved
 */
export async function reconcile(db: Queryable, eventLog: EventLog, siteId: string, stream: string): Promise<void> {
  for (;;) {
    const revision = await loggedRevision(db, stream);
    const found = await eventLog.readStream(stream, revision + 1, PAGE);
    if (found.length === 0) return;
    const stored = await storedEvents(db, stream, revision, found.length);
    const rows = await waitingRowsOf(db, siteId, stream);
    if ((await loggedRevision(db, stream)) !== revision) continue;
    for (const [place, event] of found.entries()) {
      const own = stored[place];
      if (own === undefined)
        throw new LogDiverged(stream, event.revision, `event ${event.id} was not admitted by this database`);
      assertSameEvent(own, event);
    }
    await markRelayed(db, firstEventsOf(rows, found.length));
  }
}

async function waitingRowsOf(db: Queryable, siteId: string, stream: string) {
  const { rows } = await db.query(
    `select w.number, w.revision, w.count from event_log.waiting w join event_log.streams s on s.number = w.stream
      where w.site_id = $1 and s.name = $2 order by w.number limit ${PAGE}`,
    [siteId, stream],
  );
  return waitingRows.parse(rows).map((row) => ({ ...row, siteId }));
}

const storedRows = z.array(
  z
    .object({ revision: z.int(), id: z.string(), type: z.string(), data: z.instanceof(Uint8Array) })
    .transform(({ revision, ...event }) => ({ revision, event: { ...event, metadata: new Uint8Array(0) } })),
);

/** Tables of the streams that do not belong to a site. */
const TABLES: ReadonlyMap<string, string> = new Map([
  [LEDGER_STREAM, 'ledger_events'],
  [POLICY_STREAM, 'ledger_policies'],
]);

/** Returns the stored events of a stream after a revision, up to the first gap. */
export async function storedEvents(db: Queryable, stream: string, after: number, limit: number): Promise<NewEvent[]> {
  const table = TABLES.get(stream);
  const { rows } =
    table === undefined
      ? await db.query(
          `select revision, id, type, data from event_log.stored_events
            where stream = $1 and revision > $2 order by revision limit $3`,
          [stream, after, limit],
        )
      : await db.query(
          `select revision, event_id as id, type, body as data from ${table} where revision > $1 order by revision limit $2`,
          [after, limit],
        );
  return storedRows
    .parse(rows)
    .filter(({ revision }, place) => revision === after + 1 + place)
    .map(({ event }) => event);
}
