import { consentsStream, noticesStream } from '../../../schemas/events/streams.js';
import type { Queryable } from '../../platform/database/pool.js';
import { nextRun } from '../event-log/append-exactly-once.js';
import { LogBehind, LogDiverged, RevisionConflict } from '../event-log/errors.js';
import { type AppendOutcome, type EventLog, NO_STREAM, type StreamAppend } from '../event-log/port.js';
import type { Placed, Placement, Run } from './placement.js';
import { reconcile } from './reconcile.js';
import { RefusedForGood } from './refused.js';
import { firstEventsOf, loggedRevisions, markRelayed } from './waiting.js';

/** Streams that are known to be in step, at most; beyond it, all are compared again. */
const MAX_CACHED_STREAMS = 100_000;

/**
 * Places events in a log outside the database: they are appended there, each at its revision.
 * @param db in the role `consent_ledger_worker`
 */
export function appendRuns(db: Queryable, eventLog: EventLog): Placement {
  return new AppendedRuns(db, eventLog);
}

class AppendedRuns implements Placement {
  /** Streams of which the log has what the database says, and no append failed since. */
  readonly #inStep = new Set<string>();

  constructor(
    private readonly db: Queryable,
    private readonly eventLog: EventLog,
  ) {}

  forget(): void {
    this.#inStep.clear();
  }

  /**
   * Compares streams that are not known to be in step. Where the log has more than is recorded, as after
   * a lost answer or a crash, the events are compared and recorded first.
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
    const appends: (StreamAppend | null)[] = [];
    const failures: unknown[] = [];
    for (const run of runs) {
      this.#inStep.delete(run.stream);
      const events = run.rows.flatMap((row) => row.events);
      try {
        const fitting = nextRun(events, 0, this.eventLog.maxAppendBytes);
        const expectedRevision = (run.rows[0]?.revision ?? 0) - 1;
        appends.push({ stream: run.stream, expectedRevision, events: fitting });
        failures.push(null);
      } catch (error) {
        appends.push(null);
        failures.push(error);
      }
    }
    const sent = appends.flatMap((append) => append ?? []);
    const outcomes = sent.length === 0 ? [] : await this.eventLog.appendAll(sent);
    const appended = runs.map((_, place) => {
      const append = appends[place] ?? null;
      if (append === null) return 0;
      failures[place] = failureOf(outcomes[sent.indexOf(append)]);
      return failures[place] === null ? append.events.length : 0;
    });
    await markRelayed(
      this.db,
      runs.flatMap(({ rows }, place) =>
        firstEventsOf(
          rows.map((row) => ({ ...row, count: row.events.length })),
          appended[place] ?? 0,
        ),
      ),
    );
    for (const [place, { stream }] of runs.entries()) if (failures[place] === null) this.#inStep.add(stream);
    return runs.map((_, place) => ({ events: appended[place] ?? 0, failure: failures[place] ?? null }));
  }
}

function divergence(error: LogDiverged): RefusedForGood {
  return new RefusedForGood(
    `${error.message}. If the database was restored from an older backup, run \`consent-ledger admin log recover\`.`,
    { cause: error },
  );
}

/** Returns why an append failed; null: it did not. */
function failureOf(outcome: AppendOutcome | undefined): unknown {
  if (outcome?.status === 'fulfilled') return null;
  const reason: unknown = outcome?.reason;
  if (reason instanceof RevisionConflict && reason.actualRevision < reason.expectedRevision) {
    return new LogBehind(reason.stream, reason.expectedRevision, reason.actualRevision);
  }
  return reason;
}
