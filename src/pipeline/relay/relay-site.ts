import { isSealedStream, siteOfStream } from '../../../schemas/events/streams.js';
import type { Queryable } from '../../platform/database/pool.js';
import { withTransaction } from '../../platform/database/pool.js';
import { assertGenuine, NotGenuine, type ProofKeys } from '../../platform/keys/index.js';
import { NO_TRACING, type Tracing } from '../../platform/telemetry/tracing.js';
import { appendExactlyOnce } from '../event-log/append-exactly-once.js';
import { AppendRefused, AppendTooLarge, LogDiverged } from '../event-log/errors.js';
import type { EventLog } from '../event-log/port.js';
import { markRelayed, type OutboxRow, takeWaiting } from './outbox.js';
import { reconcile } from './reconcile.js';

/**
 * The log refuses the next event of this site permanently. The relay of the site stops until an
 * operator releases it.
 */
export class RefusedForGood extends Error {
  override readonly name = 'RefusedForGood';
}

export interface SiteRelayOptions {
  readonly db: Queryable;
  readonly eventLog: EventLog;
  readonly keyring: ProofKeys;
  /** Maximum number of rows of one site in memory. `maxBytes` limits the size of their bodies. */
  readonly maxRows: number;
  readonly maxBytes: number;
  readonly tracing?: Tracing;
}

/**
 * Moves rows of one site at a time to the log. It caches the revision of each stream to save reads.
 * The expected revision of each append remains the decisive check.
 */
export class SiteRelay {
  /**
   * Last revision in the log, for each stream that was compared with the log and had no failed
   * append since.
   */
  readonly #inStep = new Map<string, number>();

  constructor(private readonly options: SiteRelayOptions) {}

  /**
   * Relays the first waiting rows of a site, in the order of the site across its streams.
   * @returns number of rows that were added to the log; 0 only if no row waits
   * @throws RefusedForGood
   * @throws a transient error: EventLogUnavailable, AppendOutcomeUnknown, RevisionConflict,
   *   LogDiverged or a database error
   */
  async relaySome(siteId: string, signal: AbortSignal): Promise<number> {
    const { db, maxRows, maxBytes } = this.options;
    const rows = await takeWaiting(db, siteId, maxRows, maxBytes);
    let relayed = 0;
    for (const run of runsByStream(rows)) {
      if (signal.aborted) break;
      const [first] = run;
      if (first === undefined) continue;
      const { stream } = first;
      const known = this.#inStep.get(stream);
      if (known === undefined) {
        this.#inStep.set(stream, await this.#compare(siteId, stream));
        // Rows that were read before may now be in the log.
        return relayed + (await this.relaySome(siteId, signal));
      }
      relayed += await this.#relayRun(siteId, stream, known, run);
    }
    return relayed;
  }

  /** Clears the cached revisions; the next call reads them again. */
  forget(): void {
    this.#inStep.clear();
  }

  async #compare(siteId: string, stream: string): Promise<number> {
    try {
      return await reconcile(this.options.db, this.options.eventLog, siteId, stream);
    } catch (error) {
      if (!(error instanceof LogDiverged)) throw error;
      throw new RefusedForGood(
        `${error.message}. If the database was restored from an older backup, run \`consent-ledger admin log recover\`.`,
        { cause: error },
      );
    }
  }

  async #relayRun(siteId: string, stream: string, revision: number, run: readonly OutboxRow[]): Promise<number> {
    const { db, eventLog, keyring, tracing = NO_TRACING } = this.options;
    this.#inStep.delete(stream);
    for (const row of run) await refuseUnsealable(siteId, row, keyring);
    try {
      const events = run.map((row) => row.event);
      await tracing.span('relay append', { 'consent_ledger.events': run.length }, () =>
        appendExactlyOnce(eventLog, stream, revision, events, { firstAttempt: true }),
      );
    } catch (error) {
      if (error instanceof AppendRefused || error instanceof AppendTooLarge || error instanceof TypeError) {
        throw new RefusedForGood(error.message, { cause: error });
      }
      throw error;
    }
    const seqs = run.map((row) => row.seq);
    await withTransaction(db, (db) => markRelayed(db, stream, revision, seqs));
    this.#inStep.set(stream, revision + run.length);
    return run.length;
  }
}

/** Groups consecutive rows of one stream, in the given order. */
export function runsByStream(rows: readonly OutboxRow[]): OutboxRow[][] {
  const runs: OutboxRow[][] = [];
  for (const row of rows) {
    const current = runs.at(-1);
    if (current?.[0]?.stream === row.stream) current.push(row);
    else runs.push([row]);
  }
  return runs;
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
