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

  /** Returns the append of the first events of a run, as many as one append accepts; null: it accepts none. */
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

/** Returns why an append failed; null: it did not. */
function failureOf(outcome: AppendOutcome | undefined): unknown {
  if (outcome?.status === 'fulfilled') return null;
  const reason: unknown = outcome?.reason;
  if (reason instanceof RevisionConflict && reason.actualRevision < reason.expectedRevision) {
    return new LogBehind(reason.stream, reason.expectedRevision, reason.actualRevision);
  }
  return reason;
}
