import type pg from 'pg';
import type { Projection } from '../../../projections/definition.js';
import type { BackgroundPart, PartStatus, ServiceLogger } from '../../platform/background/part.js';
import type { Tracing } from '../../platform/telemetry/tracing.js';
import type { EventLog } from '../event-log/port.js';
import { followProjection } from './follow.js';

export interface ProjectorOptions {
  /**
   * In the role `consent_ledger_projections`, with at least two connections for each projection.
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
