import type pg from 'pg';
import type { Projection } from '../../../projections/definition.js';
import { type Lease, tryLease, waitForLease } from '../../platform/background/lease.js';
import { withAnySignal } from '../../platform/background/signals.js';
import { withTransaction } from '../../platform/database/pool.js';
import type { EventLog, Position } from '../event-log/port.js';
import { applyPage, holdName, preparePage } from './apply-events.js';
import { compareGenerations, type TableComparison } from './compare.js';
import { createGeneration, dropUnusedGenerations, type Generation, readStored } from './generations.js';
import { showGeneration } from './views.js';

export interface RebuildOptions {
  /** As `consent_ledger_projections`. */
  readonly pool: pg.Pool;
  readonly log: EventLog;
  readonly projection: Projection;
  readonly signal?: AbortSignal;
  /** @param total events that the live read model has read, as an estimate of the whole; null if there is none */
  readonly onProgress?: (events: number, total: number | null) => void;
}

export interface RebuildResult {
  /** Events of the log that were replayed. */
  readonly events: number;
  /** Position of the log at which both were compared, and the new one took over. */
  readonly position: Position | null;
  /** How the new tables compare with the live ones; null if there was nothing to compare them with (none yet, another version, stopped). */
  readonly comparison: readonly TableComparison[] | null;
}

/** A rebuild of this projection is under way already. */
export class RebuildRunning extends Error {
  override readonly name = 'RebuildRunning';
}

const PAGE = 500;
const HOLD_RETRY_MS = 25;

/**
 * Replays a projection from event zero beside the live read model, compares the two at the same position, and swaps them: readers see the old
 * one until the moment in which they see the new one. Differences do not keep it from being swapped in: the log is what is true.
 * @throws RebuildRunning; ProjectionFailure if an event cannot be applied (the live read model stays); AbortError
 */
export async function rebuildProjection(options: RebuildOptions): Promise<RebuildResult> {
  return buildBeside(options, async (fresh) => {
    await withTransaction(options.pool, (client) => showGeneration(client, options.projection, fresh.generation));
  });
}

/** Does what a rebuild does, but leaves the live read model in place. @throws as `rebuildProjection` does */
export async function compareProjection(options: RebuildOptions): Promise<RebuildResult> {
  return buildBeside(options, async () => undefined);
}

/**
 * Makes the views of projections that were never built, empty: whoever reads them finds them from then on.
 * @param pool as `consent_ledger_projections`
 */
export async function prepareProjections(pool: pg.Pool, projections: readonly Projection[]): Promise<void> {
  for (const projection of projections) {
    if ((await readStored(pool, projection.name))?.live == null) await buildFirstGeneration(pool, projection);
  }
}

/** Makes the first, empty generation of a projection, and shows it. */
export async function buildFirstGeneration(pool: pg.Pool, projection: Projection): Promise<Generation> {
  const lease = await waitForLease(pool, rebuildName(projection.name), new AbortController().signal);
  try {
    const present = await readStored(pool, projection.name);
    if (present?.live) return present.live;
    const first = await createGeneration(pool, projection);
    await withTransaction(pool, (client) => showGeneration(client, projection, first.generation));
    return first;
  } finally {
    await dropUnusedGenerations(pool, projection.name);
    await lease?.release();
  }
}

async function buildBeside(
  options: RebuildOptions,
  takeOver: (fresh: Generation) => Promise<void>,
): Promise<RebuildResult> {
  const { pool, projection, signal = new AbortController().signal } = options;
  const lease = await tryLease(pool, rebuildName(projection.name));
  if (lease === null) throw new RebuildRunning(`A rebuild of ${projection.name} is running. Wait until it has ended.`);
  try {
    return await withAnySignal([signal, lease.lost], (stopped) => buildUnderLease(options, signal, stopped, takeOver));
  } finally {
    await lease.release();
  }
}

/**
 * @param signal stops the wait for the projector to pause
 * @param stopped stops the replay as well; aborted when the lease is lost
 */
async function buildUnderLease(
  options: RebuildOptions,
  signal: AbortSignal,
  stopped: AbortSignal,
  takeOver: (fresh: Generation) => Promise<void>,
): Promise<RebuildResult> {
  const { pool, projection } = options;
  let hold: Lease | null = null;
  try {
    await dropUnusedGenerations(pool, projection.name);
    const replay = new Replay(options, await createGeneration(pool, projection), stopped);
    await replay.toEndOrLive();
    hold = await waitForLease(pool, holdName(projection.name), signal, HOLD_RETRY_MS);
    const comparable = await replay.toEndOrLive();
    signal.throwIfAborted();
    const comparison =
      comparable === null
        ? null
        : await compareGenerations(pool, projection, comparable.generation, replay.fresh.generation);
    await takeOver(replay.fresh);
    return { events: replay.fresh.events, position: replay.fresh.position, comparison };
  } finally {
    await hold?.release();
    await dropUnusedGenerations(pool, projection.name);
  }
}

class Replay {
  readonly #total: Promise<number | null>;

  constructor(
    private readonly options: RebuildOptions,
    public fresh: Generation,
    private readonly signal: AbortSignal,
  ) {
    this.#total = readStored(options.pool, options.projection.name).then((stored) => stored?.live?.events ?? null);
  }

  /**
   * Replays up to the position of the live generation where the two can be compared, else to the log's end.
   * @returns the live generation if the fresh one stands at its position now, and they can be compared
   */
  async toEndOrLive(): Promise<Generation | null> {
    const { pool, projection } = this.options;
    const stored = await readStored(pool, projection.name);
    const live = stored?.live ?? null;
    // One that is stopped will not come to the log's end: the new one must.
    const isComparable = live !== null && live.version === projection.version && stored?.state === 'running';
    await this.#replay(isComparable ? live.position : undefined);
    return isComparable ? live : null;
  }

  /** @param until the last position to replay; undefined: the log's end; null: nothing */
  async #replay(until: Position | null | undefined): Promise<void> {
    const { pool, log, projection, onProgress } = this.options;
    if (until === null) return;
    const total = await this.#total;
    let cursor = this.fresh.position;
    while (until === undefined || cursor === null || cursor < until) {
      this.signal.throwIfAborted();
      const page = await log.readAll(cursor, PAGE);
      const events = until === undefined ? page.events : page.events.filter((event) => event.position <= until);
      const end = until !== undefined && (page.next === null || page.next > until || page.atEnd) ? until : page.next;
      if (end !== null && end !== cursor) {
        const target = { pool, projection, generation: this.fresh.generation, isLive: false };
        await applyPage(target, this.fresh.position, preparePage(projection, this.fresh.position, events, end));
        // A page without events moves no position.
        const position = events.length > 0 ? end : this.fresh.position;
        this.fresh = { ...this.fresh, position, events: this.fresh.events + events.length };
        cursor = end;
        onProgress?.(this.fresh.events, total);
      }
      if (page.atEnd) return;
    }
  }
}

function rebuildName(projection: string): string {
  return `projection ${projection} rebuild`;
}
