import type pg from 'pg';
import { isSealedStream, siteOfStream } from '../../../schemas/events/streams.js';
import { withTransaction } from '../../platform/database/pool.js';
import { assertGenuine, NotGenuine, type ProofKeys } from '../../platform/keys/index.js';
import { NO_TRACING, type Tracing } from '../../platform/telemetry/tracing.js';
import { appendExactlyOnce } from '../event-log/append-exactly-once.js';
import { AppendRefused, AppendTooLarge, LogDiverged } from '../event-log/errors.js';
import type { EventLog } from '../event-log/port.js';
import { markRelayed, type OutboxRow, takeWaiting } from './outbox.js';
import { reconcile } from './reconcile.js';

/** The log will never take this site's next event: nothing of the site goes on until an operator has looked. */
export class RefusedForGood extends Error {
  override readonly name = 'RefusedForGood';
}

export interface SiteRelayOptions {
  readonly pool: pg.Pool;
  readonly log: EventLog;
  readonly keyring: ProofKeys;
  /** Rows, and bytes of bodies, held in memory for one site. */
  readonly maxRows: number;
  readonly maxBytes: number;
  readonly tracing?: Tracing;
}

/**
 * Moves rows of single sites to the log. What it remembers between calls (at which revision the log is, so that it need not look before each
 * append) only spares reads: the expected revision of each append decides.
 */
export class SiteRelay {
  /** Last revision in the log, of streams that were compared with it and appended to without a failure since. */
  readonly #inStep = new Map<string, number>();

  constructor(private readonly options: SiteRelayOptions) {}

  /**
   * Relays the first rows of a site that wait, in its order across its streams.
   * @returns how many rows are in the log now that were not before; 0 only if none waits
   * @throws RefusedForGood; whatever may pass: EventLogUnavailable, AppendOutcomeUnknown, RevisionConflict, LogDiverged, database errors
   */
  async relaySome(siteId: string, signal: AbortSignal): Promise<number> {
    const { pool, maxRows, maxBytes } = this.options;
    const rows = await takeWaiting(pool, siteId, maxRows, maxBytes);
    let relayed = 0;
    for (const run of runsByStream(rows)) {
      if (signal.aborted) break;
      const [first] = run;
      if (first === undefined) continue;
      const { stream } = first;
      const known = this.#inStep.get(stream);
      if (known === undefined) {
        this.#inStep.set(stream, await this.#compare(siteId, stream));
        // Rows taken before may be in the log: take them anew.
        return relayed + (await this.relaySome(siteId, signal));
      }
      relayed += await this.#relayRun(siteId, stream, known, run);
    }
    return relayed;
  }

  /** Forgets what it believed of the log: the next call looks again. */
  forget(): void {
    this.#inStep.clear();
  }

  async #compare(siteId: string, stream: string): Promise<number> {
    try {
      return await reconcile(this.options.pool, this.options.log, siteId, stream);
    } catch (error) {
      if (!(error instanceof LogDiverged)) throw error;
      throw new RefusedForGood(
        `${error.message}. If the database was restored from an older backup, run \`consent-ledger admin log recover\`.`,
        { cause: error },
      );
    }
  }

  async #relayRun(siteId: string, stream: string, revision: number, run: readonly OutboxRow[]): Promise<number> {
    const { pool, log, keyring, tracing = NO_TRACING } = this.options;
    this.#inStep.delete(stream);
    for (const row of run) await refuseUnsealable(siteId, row, keyring);
    try {
      const events = run.map((row) => row.event);
      await tracing.span('relay append', { 'consent_ledger.events': run.length }, () =>
        appendExactlyOnce(log, stream, revision, events, { firstAttempt: true }),
      );
    } catch (error) {
      if (error instanceof AppendRefused || error instanceof AppendTooLarge || error instanceof TypeError) {
        throw new RefusedForGood(error.message, { cause: error });
      }
      throw error;
    }
    const seqs = run.map((row) => row.seq);
    await withTransaction(pool, (client) => markRelayed(client, stream, revision, seqs));
    this.#inStep.set(stream, revision + run.length);
    return run.length;
  }
}

/** Consecutive rows of one stream, in the order given. */
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
 * What could not be sealed would stop the sealer for every site, and what was altered since it was accepted would be given a time-stamp: neither may
 * enter the log.
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
