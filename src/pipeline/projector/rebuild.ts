import type pg from 'pg';
import * as z from 'zod';
import type { Projection } from '../../../projections/definition.js';
import { type Lease, tryLease, waitForLease } from '../../platform/background/part.js';
import { withAnySignal } from '../../platform/background/signals.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { LogBehind } from '../event-log/errors.js';
import { Continuity } from '../event-log/event-checks.js';
import { type EventLog, type LogPage, NO_STREAM, type Position } from '../event-log/port.js';
import { applyPage, holdName, type PreparedPage, preparePage } from './apply-events.js';
import { compareGenerations, type TableComparison } from './compare.js';
import {
  createGeneration,
  createIndexes,
  deleteProjection,
  dropUnusedGenerations,
  type Generation,
  readStored,
} from './generations.js';
import { schemaOf } from './sql.js';
import { hideViews, showGeneration } from './views.js';

export interface RebuildOptions {
  /** A handle in the role `consent_ledger_projections`. */
  readonly db: pg.Pool;
  readonly eventLog: EventLog;
  readonly projection: Projection;
  /**
   * Whether a projector keeps the live read model up to date. Otherwise the replay continues to the end of the log
   * after the comparison, because only rebuilds advance the read model.
   */
  readonly isFollowed: boolean;
  readonly signal?: AbortSignal;
  /**
   * Called between two pages of the first replay if that ends at the live read model. A replay that has to catch up
   * with a growing log does not call it, nor does the last one, which holds the live read model.
   */
  readonly yieldToAdmission?: () => Promise<void>;
  /**
   * @param total number of events that the live read model has read, as an estimate of the total; null if there is no
   * live read model
   */
  readonly onProgress?: (events: number, total: number | null) => void;
}

export interface RebuildResult {
  /** Number of replayed events. */
  readonly events: number;
  /** Position of the log at which the generations were swapped. */
  readonly position: Position | null;
  /**
   * Comparison with the live tables, or null if no comparable generation exists (none, another version, or stopped).
   */
  readonly comparison: readonly TableComparison[] | null;
}

/** A rebuild of this projection is already in progress. */
export class RebuildRunning extends Error {
  override readonly name = 'RebuildRunning';
}

/** Readers lock the tables of a projection that is to be removed. */
export class ReadModelInUse extends Error {
  override readonly name = 'ReadModelInUse';
}

const PAGE = 500;
const streamRows = z.array(z.object({ stream: z.string(), revision: z.int() }));
const HOLD_RETRY_MS = 25;

/**
 * Replays a projection from the first event beside the live read model, compares the two at the same position, and
 * swaps them in one transaction. Differences do not prevent the swap, because the log is the source of truth. Lost
 * events do, because rows would be lost with them.
 * @throws RebuildRunning, DefinitionChanged
 * @throws ProjectionFailure if an event cannot be applied, LogBehind or RevisionGap if the log lost
 *   events; the live read model remains
 * @throws AbortError
 */
export async function rebuildProjection(options: RebuildOptions): Promise<RebuildResult> {
  return buildBeside(options, async (replay) => {
    if (!options.isFollowed) await replay.toEnd();
    await replay.assertWhole();
    const { fresh } = replay;
    await withTransaction(options.db, (db) => showGeneration(db, options.projection, fresh.generation));
  });
}

/**
 * Replays and compares like `rebuildProjection`, but leaves the live read model in place.
 * @throws the errors of `rebuildProjection`
 */
export async function compareProjection(options: RebuildOptions): Promise<RebuildResult> {
  return buildBeside(options, async () => undefined);
}

/**
 * Creates empty views for projections that were never built, so that readers find them.
 * @param db a handle in the role `consent_ledger_projections`
 */
export async function prepareProjections(db: pg.Pool, projections: readonly Projection[]): Promise<void> {
  for (const projection of projections) {
    if ((await readStored(db, projection.name))?.live == null) await buildFirstGeneration(db, projection);
  }
}

/** Creates the first, empty generation of a projection and points the views to it. */
export async function buildFirstGeneration(db: pg.Pool, projection: Projection): Promise<Generation> {
  const lease = await waitForLease(db, rebuildName(projection.name), new AbortController().signal);
  try {
    const present = await readStored(db, projection.name);
    if (present?.live) return present.live;
    const first = await createGeneration(db, projection);
    await createIndexes(db, projection, first.generation);
    await withTransaction(db, (db) => showGeneration(db, projection, first.generation));
    return first;
  } finally {
    await dropUnusedGenerations(db, projection.name);
    await lease?.release();
  }
}

/**
 * Removes the read model of a projection: its views, its tables and its position.
 * @param db a handle in the role `consent_ledger_projections`
 * @returns false if this database has no such projection
 * @throws RebuildRunning, ViewInUse, ReadModelInUse
 */
export async function removeProjection(db: pg.Pool, name: string): Promise<boolean> {
  const lease = await tryLease(db, rebuildName(name));
  if (lease === null) throw new RebuildRunning(`A rebuild of ${name} is running. Wait until it has ended.`);
  try {
    if ((await readStored(db, name)) === null) return false;
    await withTransaction(db, (db) => hideViews(db, name));
    await dropUnusedGenerations(db, name);
    if (!(await deleteProjection(db, name)))
      throw new ReadModelInUse(
        `A reader still uses the tables of ${name}. Its views are removed. Run the command again.`,
      );
    return true;
  } finally {
    await lease.release();
  }
}

async function buildBeside(
  options: RebuildOptions,
  takeOver: (replay: Replay) => Promise<void>,
): Promise<RebuildResult> {
  const { db, projection, signal = new AbortController().signal } = options;
  const lease = await tryLease(db, rebuildName(projection.name));
  if (lease === null) throw new RebuildRunning(`A rebuild of ${projection.name} is running. Wait until it has ended.`);
  try {
    return await withAnySignal([signal, lease.lost], (stopped) => buildUnderLease(options, signal, stopped, takeOver));
  } finally {
    await lease.release();
  }
}

/**
 * @param signal cancels the wait until the projector pauses
 * @param stopped cancels the replay too; aborted when the lease is lost
 */
async function buildUnderLease(
  options: RebuildOptions,
  signal: AbortSignal,
  stopped: AbortSignal,
  takeOver: (replay: Replay) => Promise<void>,
): Promise<RebuildResult> {
  const { db, projection } = options;
  let hold: Lease | null = null;
  try {
    await dropUnusedGenerations(db, projection.name);
    await refuseChangedDefinition(db, projection);
    const replay = new Replay(options, await createGeneration(db, projection), stopped);
    await replay.toEndOrLive(options.yieldToAdmission);
    await createIndexes(db, projection, replay.fresh.generation);
    // Replays the events that arrived meanwhile, so that the live read model is held as briefly as possible.
    await replay.toEndOrLive();
    hold = await waitForLease(db, holdName(projection.name), signal, HOLD_RETRY_MS);
    const comparable = await replay.toEndOrLive();
    signal.throwIfAborted();
    const comparison =
      comparable === null
        ? null
        : await compareGenerations(db, projection, comparable.generation, replay.fresh.generation);
    await takeOver(replay);
    return { events: replay.fresh.events, position: replay.fresh.position, comparison };
  } finally {
    await hold?.release();
    await dropUnusedGenerations(db, projection.name);
  }
}

class Replay {
  readonly #continuity = new Continuity(true);
  /** Number of events that the live generation has read, for the progress. */
  #total: number | null = null;

  constructor(
    private readonly options: RebuildOptions,
    public fresh: Generation,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * Replays to the position of the live generation if the two can be compared, otherwise to the end
   * of the log.
   * @param betweenPages called between two pages on the way to the live generation
   * @returns the live generation if the new one is at the same position and they can be compared
   */
  async toEndOrLive(betweenPages?: () => Promise<void>): Promise<Generation | null> {
    const { db, projection } = this.options;
    const stored = await readStored(db, projection.name);
    const live = stored?.live ?? null;
    this.#total = live?.events ?? null;
    // A stopped generation is not at the end of the log, but the new one has to get there.
    const isComparable = live !== null && live.version === projection.version && stored?.state === 'running';
    if (isComparable) await this.#replay(live.position, betweenPages);
    else await this.#replay(undefined);
    return isComparable ? live : null;
  }

  /**
   * Verifies that the log still has every stream that the relay wrote, up to its recorded end.
   * @throws LogBehind
   */
  async assertWhole(): Promise<void> {
    const { db, eventLog } = this.options;
    const recorded = streamRows.parse((await db.query('select stream, revision from event_log.logged_streams')).rows);
    const unread = recorded.filter(({ stream, revision }) => this.#continuity.lastOf(stream) < revision);
    for (let done = 0; done < unread.length; done += PAGE) {
      const page = unread.slice(done, done + PAGE);
      const inLog = await eventLog.lastRevisions(page.map(({ stream }) => stream));
      for (const { stream, revision } of page) {
        const end = inLog.get(stream) ?? NO_STREAM;
        if (end < revision) throw new LogBehind(stream, revision, end);
      }
    }
  }

  /** Replays to the end of the log. */
  async toEnd(): Promise<void> {
    await this.#replay(undefined);
  }

  /**
   * Replays in a pipeline: while the database applies one page, the next one is prepared, and the log reads the one
   * after. Preparation begins only when the rows were sent, because earlier it would delay them.
   * @param until last position to replay; undefined for the end of the log, and null to replay nothing
   */
  async #replay(until: Position | null | undefined, betweenPages?: () => Promise<void>): Promise<void> {
    if (until === null) return;
    const total = this.#total;
    let applying: Promise<void> = Promise.resolve();
    try {
      for await (const page of this.#pages(until)) {
        await applying;
        this.options.onProgress?.(this.fresh.events, total);
        await betweenPages?.();
        await new Promise<void>((proceed) => {
          applying = this.#apply(page, proceed);
          // A failure is thrown where the promise is awaited.
          applying.then(proceed, () => proceed());
        });
      }
    } finally {
      await applying;
    }
    this.options.onProgress?.(this.fresh.events, total);
  }

  /** Yields the changes of each page of the log up to a position, in order. */
  async *#pages(until: Position | undefined): AsyncGenerator<PreparedPage, void, undefined> {
    const { eventLog, projection } = this.options;
    let cursor = this.fresh.position;
    let next: Promise<LogPage> | null = null;
    while (until === undefined || cursor === null || cursor < until) {
      this.signal.throwIfAborted();
      const page: LogPage = await (next ?? eventLog.readAll(cursor, PAGE));
      const isLast = page.atEnd || (until !== undefined && (page.next === null || page.next >= until));
      next = isLast ? null : eventLog.readAll(page.next, PAGE);
      // If this page fails, nobody awaits the read, and its failure must not end the process.
      next?.catch(() => undefined);
      const events = until === undefined ? page.events : page.events.filter((event) => event.position <= until);
      this.#continuity.check(events);
      const end = isLast && until !== undefined ? until : page.next;
      if (end !== null && events.length > 0) yield preparePage(projection, cursor, events, end);
      if (isLast) return;
      cursor = end;
    }
  }

  async #apply(page: PreparedPage, onSent: () => void): Promise<void> {
    const { db, projection } = this.options;
    const { generation, position, events } = this.fresh;
    await applyPage({ db, projection, generation, isLive: false }, position, page, onSent);
    this.fresh = { ...this.fresh, position: page.position, events: events + page.events.length };
  }
}

function rebuildName(projection: string): string {
  return `projection ${projection} rebuild`;
}

/** The definition has different columns from the live tables, although its version is the same. */
export class DefinitionChanged extends Error {
  override readonly name = 'DefinitionChanged';
}

const columnRows = z.array(z.object({ column: z.string(), type: z.string() }));

/**
 * Refuses a definition that has the version of the live read model but different columns, because the two cannot be
 * compared.
 * @throws DefinitionChanged, which names the columns
 */
async function refuseChangedDefinition(db: Queryable, projection: Projection): Promise<void> {
  const { name, version, tables } = projection;
  const live = (await readStored(db, name))?.live ?? null;
  if (live === null || live.version !== version) return;
  const { rows } = await db.query(
    `select c.relname || '.' || a.attname as column,
            case a.atttypid when 'timestamptz'::regtype then 'timestamptz' else format_type(a.atttypid, null) end as type
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where n.nspname = $1 and c.relkind = 'r'`,
    [schemaOf(name, live.generation)],
  );
  const present = new Map(columnRows.parse(rows).map(({ column, type }): [string, string] => [column, type]));
  const wanted = new Map(
    Object.entries(tables).flatMap(([table, { columns }]) =>
      Object.entries(columns).map(([column, { type }]): [string, string] => [`${table}.${column}`, type]),
    ),
  );
  const changed = [...new Set([...present.keys(), ...wanted.keys()])]
    .filter((column) => present.get(column) !== wanted.get(column))
    .sort();
  if (changed.length > 0)
    throw new DefinitionChanged(
      `The live read model ${name} was also built by version ${version}, with other columns: ${changed.join(', ')}. Raise \`version\` in the definition.`,
    );
}
