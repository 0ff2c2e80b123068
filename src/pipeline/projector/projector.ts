import type pg from 'pg';
import type { Projection } from '../../../projections/definition.js';
import { type BackgroundPart, describe, type PartStatus, type ServiceLogger } from '../../platform/background/part.js';
import { BackOff, pause } from '../../platform/background/waiting.js';
import { NO_TRACING, type Tracing } from '../../platform/telemetry/tracing.js';
import { Continuity } from '../event-log/event-checks.js';
import type { EventLog, LogPage, Position } from '../event-log/port.js';
import { applyPage, GenerationHeld, GenerationMoved, preparePage } from './apply-events.js';
import { ProjectionFailure } from './failures.js';
import { type Generation, readStored, setState } from './generations.js';
import { buildFirstGeneration, rebuildProjection } from './rebuild.js';

export interface ProjectorOptions {
  /**
   * A pool in the role `consent_ledger_projections`, with at least two connections for each projection.
   */
  readonly db: pg.Pool;
  readonly eventLog: EventLog;
  readonly logger: ServiceLogger;
  readonly projections: readonly Projection[];
  /** Interval at which a stopped projection checks whether it was rebuilt, in milliseconds. */
  readonly stoppedPollMs?: number;
  readonly tracing?: Tracing;
}

/**
 * Creates the part that keeps the read models up to date (docs/projections.md). The projections run
 * independently of each other. Several projectors may run; each event is applied once.
 */
export function createProjector(options: ProjectorOptions): BackgroundPart {
  return new Projector(options);
}

class Projector implements BackgroundPart {
  readonly name = 'projector';
  readonly #applied = new Map<string, number>();

  constructor(private readonly options: ProjectorOptions) {
    const names = options.projections.map((projection) => projection.name);
    if (new Set(names).size !== names.length) throw new RangeError('two projections have the same name');
    for (const name of names) this.#applied.set(name, 0);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { db, eventLog, logger, projections, stoppedPollMs = 2_000, tracing } = this.options;
    await Promise.all(
      projections.map((projection) => {
        const onApplied = (events: number): void => {
          this.#applied.set(projection.name, (this.#applied.get(projection.name) ?? 0) + events);
        };
        const shared = { db, eventLog, logger, stoppedPollMs, ...(tracing && { tracing }) };
        return followProjection({ ...shared, projection, onApplied }, signal);
      }),
    );
  }

  status(): PartStatus {
    return Object.fromEntries([...this.#applied].map(([name, events]) => [`${name}_events`, events]));
  }
}

export interface FollowOptions {
  readonly db: pg.Pool;
  readonly eventLog: EventLog;
  readonly logger: ServiceLogger;
  readonly projection: Projection;
  /** Interval at which a stopped projection checks whether it was rebuilt, in milliseconds. */
  readonly stoppedPollMs: number;
  readonly onApplied: (events: number) => void;
  readonly tracing?: Tracing;
}

const HELD_MS = 50;

/**
 * Keeps the live generation of one projection up to date until `signal` is aborted. A projection
 * that cannot apply an event stops with an alarm, until it is rebuilt or the service restarts.
 */
async function followProjection(options: FollowOptions, signal: AbortSignal): Promise<void> {
  const { projection, logger } = options;
  const backOff = new BackOff();
  let mayRetryStopped = true;
  while (!signal.aborted) {
    try {
      const generation = await openLive(options, mayRetryStopped, signal);
      mayRetryStopped = false;
      if (generation === null) await pause(options.stoppedPollMs, signal);
      else await followGeneration(options, generation, () => backOff.reset(), signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ProjectionFailure) {
        logger.error({ part: 'projector', projection: projection.name, reason: error.message }, 'projection stopped');
        await stop(options, error, signal);
      } else if (!(error instanceof GenerationMoved)) {
        logger.warn(
          { part: 'projector', projection: projection.name, reason: describe(error) },
          'projecting failed; trying again',
        );
        await pause(backOff.next(), signal);
      }
    }
  }
}

/**
 * Returns the generation to keep up to date, or null while the projection is stopped. A generation that does not match
 * the definition is replaced by a new one.
 */
async function openLive(options: FollowOptions, mayRetry: boolean, signal: AbortSignal): Promise<Generation | null> {
  const { db, eventLog, projection, logger } = options;
  const { name, version } = projection;
  const stored = await readStored(db, name);
  if (stored === null || stored.live === null) return buildFirstGeneration(db, projection);
  if (stored.state === 'needs_rebuild' || stored.live.version < version) {
    logger.info({ part: 'projector', projection: name, version }, 'rebuilding the read model');
    await rebuildProjection({ db, eventLog, projection, isFollowed: true, signal });
    return (await readStored(db, name))?.live ?? null;
  }
  if (stored.live.version > version) {
    throw new Error(
      `the read model ${name} was built by version ${stored.live.version} of its definition; this program has ${version}`,
    );
  }
  if (stored.state === 'stopped') {
    if (!mayRetry) return null;
    await setState(db, name, 'running', null);
  }
  return stored.live;
}

async function followGeneration(
  options: FollowOptions,
  generation: Generation,
  onProgress: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { eventLog, projection, logger } = options;
  let position: Position | null = generation.position;
  const continuity = new Continuity(position === null);
  for await (const page of eventLog.subscribe(position, signal)) {
    for (const event of page.events) {
      const gap = continuity.gapBefore(event);
      if (gap !== null)
        logger.error({ part: 'projector', projection: projection.name, reason: gap.message }, 'events are missing');
    }
    await applyLive(options, generation.generation, position, page, signal);
    if (signal.aborted) return;
    onProgress();
    position = page.next;
  }
}

async function applyLive(
  { db, projection, onApplied, tracing = NO_TRACING }: FollowOptions,
  generation: number,
  from: Position | null,
  page: LogPage,
  signal: AbortSignal,
): Promise<void> {
  if (page.next === null) return;
  const prepared = preparePage(projection, from, page.events, page.next);
  while (!signal.aborted) {
    try {
      const facts = { 'consent_ledger.projection': projection.name, 'consent_ledger.events': page.events.length };
      await tracing.span('project', facts, () =>
        applyPage({ db, projection, generation, isLive: true }, from, prepared),
      );
      onApplied(page.events.length);
      return;
    } catch (error) {
      if (!(error instanceof GenerationHeld)) throw error;
      await pause(HELD_MS, signal);
    }
  }
}

/** Records that the projection stopped. Database errors are retried without limit. */
async function stop(
  { db, projection, logger }: FollowOptions,
  failure: ProjectionFailure,
  signal: AbortSignal,
): Promise<void> {
  const backOff = new BackOff();
  while (!signal.aborted) {
    try {
      await setState(db, projection.name, 'stopped', failure.problem);
      return;
    } catch (error) {
      logger.warn(
        { part: 'projector', projection: projection.name, reason: describe(error) },
        'recording a stop failed',
      );
      await pause(backOff.next(), signal);
    }
  }
}
