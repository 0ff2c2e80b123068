import { consentsStream, isSealedStream, noticesStream, siteOfStream } from '../../../schemas/events/streams.js';
import type { Queryable } from '../../platform/database/pool.js';
import { assertGenuine, NotGenuine, type ProofKeys } from '../../platform/keys/index.js';
import { NO_TRACING, type Tracing } from '../../platform/telemetry/tracing.js';
import { nextRun } from '../event-log/append-exactly-once.js';
import { AppendRefused, AppendTooLarge, LogBehind, LogDiverged, RevisionConflict } from '../event-log/errors.js';
import { type AppendOutcome, type EventLog, NO_STREAM, type StreamAppend } from '../event-log/port.js';
import {
  markRelayed,
  type OutboxRow,
  type PageLimits,
  type RelayedRows,
  relayedRevisions,
  relayedRows,
  StreamMoved,
  sharePerSite,
  takeWaiting,
} from './outbox.js';
import { reconcile } from './reconcile.js';

/**
 * The log refuses the next event of this site permanently. The relay of the site stops until an
 * operator releases it.
 */
export class RefusedForGood extends Error {
  override readonly name = 'RefusedForGood';
}

export interface PageRelayOptions {
  readonly db: Queryable;
  readonly eventLog: EventLog;
  readonly keyring: ProofKeys;
  /** Rows in memory at the same time. */
  readonly limits: PageLimits;
  readonly tracing?: Tracing;
}

/** Result of relaying one page. */
export interface RelayedPage {
  /** Number of rows that were added to the log. */
  readonly relayed: number;
  /** Whether a limit of the page may have left rows of its sites waiting. */
  readonly mayWait: boolean;
  /**
   * The sites whose next row was not relayed: RefusedForGood, or a transient error
   * (EventLogUnavailable, AppendOutcomeUnknown, RevisionConflict, StreamMoved), or an OperatorNeeded.
   */
  readonly failures: ReadonlyMap<string, unknown>;
}

/** Consecutive waiting rows of one stream. */
interface Run {
  readonly siteId: string;
  readonly stream: string;
  readonly rows: readonly OutboxRow[];
}

/** The append of the first rows of a run, as many as one append accepts. */
interface RunAppend extends StreamAppend {
  readonly run: Run;
}

/** Streams whose revision is cached, at most; beyond it, all are read again. */
const MAX_CACHED_STREAMS = 100_000;

/**
 * Moves pages of waiting rows to the log: the first rows of many sites at once. It caches the
 * revision of each stream to save reads. The expected revision of each append remains the decisive
 * check.
 */
export class PageRelay {
  /**
   * Last revision in the log, for each stream that was compared with the log and had no failed
   * append since.
   */
  readonly #inStep = new Map<string, number>();

  constructor(private readonly options: PageRelayOptions) {}

  /**
   * Relays the first waiting rows of sites, in the order of each site across its streams. The failure
   * of one site affects no other.
   * @throws database errors
   */
  async relayFirstRows(siteIds: readonly string[], signal: AbortSignal): Promise<RelayedPage> {
    const failures = new Map<string, unknown>();
    // Before the rows: a row that another relay moves in between would be appended a second time, after
    // itself.
    await this.#learnRevisions(siteIds, failures);
    const known = siteIds.filter((siteId) => !failures.has(siteId));
    const { rows, withoutEvent } = await takeWaiting(this.options.db, known, this.options.limits);
    const page = new Page(rows, failures);
    for (const { siteId, seq } of withoutEvent) {
      page.fail(siteId, new RefusedForGood(`row ${seq} of the outbox waits, and its event is missing`));
    }
    let relayed = 0;
    for (let runs = page.nextRuns(); runs.length > 0 && !signal.aborted; runs = page.nextRuns()) {
      relayed += await this.#append(page, runs);
    }
    return { relayed, mayWait: isNearLimit(rows, known.length, this.options.limits), failures };
  }

  /** Clears the cached revisions; they are read again when they are needed. */
  forget(): void {
    this.#inStep.clear();
  }

  /**
   * Reads the revisions of the sites' streams that are not cached. Where the log has more than is
   * recorded, as after a lost answer or a crash, the rows are recorded first.
   */
  async #learnRevisions(siteIds: readonly string[], failures: Map<string, unknown>): Promise<void> {
    const { db, eventLog } = this.options;
    if (this.#inStep.size > MAX_CACHED_STREAMS) this.#inStep.clear();
    const unknown = siteIds
      .flatMap((siteId) => [consentsStream(siteId), noticesStream(siteId)].map((stream) => ({ siteId, stream })))
      .filter(({ stream }) => !this.#inStep.has(stream));
    if (unknown.length === 0) return;
    const streams = unknown.map(({ stream }) => stream);
    const recorded = await relayedRevisions(db, streams);
    let inLog: ReadonlyMap<string, number>;
    try {
      inLog = await eventLog.lastRevisions(streams);
    } catch (error) {
      for (const { siteId } of unknown) failures.set(siteId, error);
      return;
    }
    for (const { siteId, stream } of unknown) {
      const revision = recorded.get(stream) ?? NO_STREAM;
      try {
        const isAhead = (inLog.get(stream) ?? NO_STREAM) > revision;
        this.#inStep.set(stream, isAhead ? await reconcile(db, eventLog, siteId, stream) : revision);
      } catch (error) {
        failures.set(siteId, error instanceof LogDiverged ? divergence(error) : error);
      }
    }
  }

  async #append(page: Page, runs: readonly Run[]): Promise<number> {
    const { eventLog, keyring, tracing = NO_TRACING } = this.options;
    const appends: RunAppend[] = [];
    for (const run of runs) {
      const { siteId, stream, rows } = run;
      const expectedRevision = this.#inStep.get(stream);
      this.#inStep.delete(stream);
      try {
        for (const row of rows) await refuseUnsealable(siteId, row, keyring);
        if (expectedRevision === undefined) throw new StreamMoved(`the revision of ${stream} is not known`);
        const events = nextRun(
          rows.map(({ event }) => event),
          0,
          eventLog.maxAppendBytes,
        );
        if (events.length < rows.length) page.endSite(siteId);
        appends.push({ run, stream, expectedRevision, events });
      } catch (error) {
        page.fail(siteId, refusal(error));
      }
    }
    if (appends.length === 0) return 0;
    const count = appends.reduce((sum, { events }) => sum + events.length, 0);
    const outcomes = await tracing.span('relay append', { 'consent_ledger.events': count }, () =>
      eventLog.appendAll(appends),
    );
    const relayed = appends.flatMap(({ run, stream, expectedRevision, events }, place) => {
      const failure = failureOf(outcomes[place]);
      if (failure !== null) page.fail(run.siteId, failure);
      const seqs = run.rows.slice(0, events.length).map(({ seq }) => seq);
      return failure === null ? [relayedRows(run.siteId, stream, expectedRevision, seqs)] : [];
    });
    return await this.#mark(page, relayed);
  }

  async #mark(page: Page, relayed: readonly RelayedRows[]): Promise<number> {
    if (relayed.length === 0) return 0;
    const refused = await markRelayed(this.options.db, relayed);
    let marked = 0;
    for (const { siteId, stream, revision, count } of relayed) {
      if (refused.has(stream)) {
        page.fail(siteId, StreamMoved.from(stream, revision));
        continue;
      }
      this.#inStep.set(stream, revision + count);
      marked += count;
    }
    return marked;
  }
}

/**
 * Returns whether a limit may have cut the rows: a site has its whole share, or the bodies fill half
 * of what is allowed. The half leaves room for a next row that was too large.
 */
function isNearLimit(rows: readonly OutboxRow[], sites: number, limits: PageLimits): boolean {
  const share = sharePerSite(limits, sites);
  const bySite = new Map<string, { rows: number; bytes: number }>();
  let bytes = 0;
  for (const { siteId, event } of rows) {
    const site = bySite.get(siteId) ?? { rows: 0, bytes: 0 };
    site.rows += 1;
    site.bytes += event.data.length;
    bytes += event.data.length;
    bySite.set(siteId, site);
  }
  if (bytes * 2 >= limits.maxBytes) return true;
  return [...bySite.values()].some((site) => site.rows >= share || site.bytes * 2 >= limits.maxSiteBytes);
}

/** The rows of a page as runs: each turn takes the next run of every site that goes on. */
class Page {
  readonly #runs: Map<string, Run[]>;
  readonly #ended = new Set<string>();

  constructor(
    rows: readonly OutboxRow[],
    private readonly failures: Map<string, unknown>,
  ) {
    this.#runs = runsBySite(rows);
  }

  /** Takes the next run of each site; none if all are done. */
  nextRuns(): Run[] {
    return [...this.#runs].flatMap(([siteId, runs]) => (this.#ended.has(siteId) ? [] : runs.splice(0, 1)));
  }

  /** Leaves the other rows of the site to a later page. */
  endSite(siteId: string): void {
    this.#ended.add(siteId);
  }

  fail(siteId: string, error: unknown): void {
    this.failures.set(siteId, error);
    this.endSite(siteId);
  }
}

/** Groups the rows of each site into runs of consecutive rows of one stream, in the given order. */
function runsBySite(rows: readonly OutboxRow[]): Map<string, Run[]> {
  const sites = new Map<string, (Run & { readonly rows: OutboxRow[] })[]>();
  for (const row of rows) {
    const { siteId, stream } = row;
    const runs = sites.get(siteId) ?? [];
    sites.set(siteId, runs);
    const current = runs.at(-1);
    if (current?.stream === stream) current.rows.push(row);
    else runs.push({ siteId, stream, rows: [row] });
  }
  return new Map(sites);
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
  return refusal(reason);
}

function refusal(error: unknown): unknown {
  const isPermanent = error instanceof AppendRefused || error instanceof AppendTooLarge || error instanceof TypeError;
  return isPermanent ? new RefusedForGood(error.message, { cause: error }) : error;
}

/**
 * Refuses an event that cannot be sealed or that was altered after admission. The first would stop
 * the sealer for every site; the second would receive a time stamp.
 */
async function refuseUnsealable(siteId: string, { stream, event }: OutboxRow, keyring: ProofKeys): Promise<void> {
  if (!isSealedStream(stream) || siteOfStream(stream) !== siteId) {
    throw new RefusedForGood(`event ${event.id} is addressed to stream ${stream}, which does not belong to the site`);
  }
  try {
    await assertGenuine({ ...event, stream }, keyring);
  } catch (error) {
    if (!(error instanceof NotGenuine)) throw error;
    throw new RefusedForGood(error.message, { cause: error });
  }
}
