import { z } from 'zod';
import type { Projection } from '../../../projections/definition.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { EventLog, Position } from '../event-log/port.js';
import type { Problem } from './failures.js';
import { type ProjectionState, readStored } from './generations.js';

/** A projection of the service and its views. */
export interface ListedProjection {
  readonly name: string;
  readonly version: number;
  /** Names in the schema `read_model`. */
  readonly views: readonly string[];
  readonly state: ProjectionState | 'never_built';
  /** The failure that stopped the projection, and its event. */
  readonly problem: Problem | null;
}

export interface ProjectionStatus {
  readonly name: string;
  /** Version of the definition. The live read model may have an older one. */
  readonly version: number;
  readonly state: ProjectionState | 'never_built';
  readonly problem: Problem | null;
  /** Time of the last change of state. */
  readonly changedAt: Date | null;
  readonly live: { readonly generation: number; readonly version: number } | null;
  readonly position: Position | null;
  /** Number of events read from the log. */
  readonly events: number;
  /** Whether the projection has read the whole log; null if the log does not respond. */
  readonly isUpToDate: boolean | null;
}

export async function listProjections(db: Queryable, projections: readonly Projection[]): Promise<ListedProjection[]> {
  return Promise.all(
    projections.map(async ({ name, version, tables }) => {
      const stored = await readStored(db, name);
      const state = stored?.live == null ? 'never_built' : stored.state;
      return { name, version, views: Object.keys(tables), state, problem: stored?.problem ?? null };
    }),
  );
}

const stoppedRows = z.array(z.object({ name: z.string() }));

/** Returns the names of the stopped projections. The views of a stopped projection are outdated. */
export async function stoppedProjections(db: Queryable, projections: readonly Projection[]): Promise<string[]> {
  const { rows } = await db.query(
    `select name from projections where state = 'stopped' and name = any($1) order by name`,
    [projections.map(({ name }) => name)],
  );
  return stoppedRows.parse(rows).map(({ name }) => name);
}

export async function projectionStatus(
  db: Queryable,
  eventLog: EventLog,
  projections: readonly Projection[],
): Promise<ProjectionStatus[]> {
  return Promise.all(projections.map((projection) => statusOf(db, eventLog, projection)));
}

async function statusOf(db: Queryable, eventLog: EventLog, { name, version }: Projection): Promise<ProjectionStatus> {
  const stored = await readStored(db, name);
  const live = stored?.live ?? null;
  return {
    name,
    version,
    state: live === null ? 'never_built' : (stored?.state ?? 'never_built'),
    problem: stored?.problem ?? null,
    changedAt: stored?.changedAt ?? null,
    live: live === null ? null : { generation: live.generation, version: live.version },
    position: live?.position ?? null,
    events: live?.events ?? 0,
    isUpToDate: await isAtEnd(eventLog, live?.position ?? null).catch(() => null),
  };
}

async function isAtEnd(eventLog: EventLog, position: Position | null): Promise<boolean> {
  for (let after = position; ; ) {
    const page = await eventLog.readAll(after, 1);
    if (page.events.length > 0) return false;
    if (page.atEnd) return true;
    after = page.next;
  }
}
