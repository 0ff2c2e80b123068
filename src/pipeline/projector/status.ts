import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import { type Projection, ProjectionShape } from '../../../projections/definition.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { EventLog, Position } from '../event-log/port.js';
import type { Problem } from './failures.js';
import { type ProjectionState, readStored } from './generations.js';

/** Properties of a projection that lists and status show. */
export interface KnownProjection {
  readonly name: string;
  /** Version of the definition. For a projection from a file, this is the version that built the live tables. */
  readonly version: number;
  /** Names in the schema `read_model`. */
  readonly views: readonly string[];
  /** `service` if a worker keeps it up to date, `file` if only a rebuild from its file does. */
  readonly source: 'service' | 'file';
}

/** A projection, its views and its state. */
export interface ListedProjection extends KnownProjection {
  readonly state: ProjectionState | 'never_built';
  /** The failure that stopped the projection, and its event. */
  readonly problem: Problem | null;
}

/** Progress of a projection. The live read model may have an older version than the definition. */
export interface ProjectionStatus extends Omit<KnownProjection, 'views'> {
  readonly state: ProjectionState | 'never_built';
  readonly problem: Problem | null;
  /** Time of the last change of state. */
  readonly changedAt: Date | null;
  readonly live: { readonly generation: number; readonly version: number } | null;
  readonly position: Position | null;
  /** Number of events read from the log. */
  readonly events: number;
  /** Whether the projection has read the whole log, or null if the log does not respond. */
  readonly isUpToDate: boolean | null;
}

/** Returns what lists and status need of a definition. */
export function knownProjection(
  { name, version, tables }: Projection,
  source: KnownProjection['source'],
): KnownProjection {
  return { name, version, views: Object.keys(tables), source };
}

const fileRows = z.array(z.object({ name: z.string(), version: z.int(), views: z.array(z.string()) }));

/**
 * Returns the projections that files defined, by name, as the database has them.
 * @param service the projections of the service
 */
export async function fileProjections(db: Queryable, service: readonly Projection[]): Promise<KnownProjection[]> {
  const { rows } = await db.query(
    `select p.name, coalesce(g.version, 0) as version,
            array(select v.view from projection_views v where v.name = p.name order by 1) as views
       from projections p left join projection_generations g on g.name = p.name and g.generation = p.live_generation
      where p.name <> all($1) order by p.name`,
    [service.map(({ name }) => name)],
  );
  return fileRows.parse(rows).map((row) => ({ ...row, source: 'file' }));
}

export async function listProjections(
  db: Queryable,
  projections: readonly KnownProjection[],
): Promise<ListedProjection[]> {
  return Promise.all(
    projections.map(async (projection) => {
      const stored = await readStored(db, projection.name);
      const state = stored?.live == null ? 'never_built' : stored.state;
      return { ...projection, state, problem: stored?.problem ?? null };
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
  projections: readonly KnownProjection[],
): Promise<ProjectionStatus[]> {
  return Promise.all(projections.map((projection) => statusOf(db, eventLog, projection)));
}

async function statusOf(
  db: Queryable,
  eventLog: EventLog,
  { name, version, source }: KnownProjection,
): Promise<ProjectionStatus> {
  const stored = await readStored(db, name);
  const live = stored?.live ?? null;
  return {
    name,
    source,
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

/** The file does not export a projection. The message names the defect. */
export class NotAProjection extends Error {
  override readonly name = 'NotAProjection';
}

/**
 * Loads a projection from the default export of a JavaScript file (docs/projections.md). The code
 * of the file runs with the rights of this process.
 * @param path relative to the working directory
 * @throws NotAProjection
 */
export async function loadProjection(path: string): Promise<Projection> {
  const file = resolve(path);
  let loaded: unknown;
  try {
    loaded = await import(pathToFileURL(file).href);
  } catch (error) {
    throw new NotAProjection(`${file} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  const parsed = z.object({ default: ProjectionShape }).safeParse(loaded);
  if (!parsed.success)
    throw new NotAProjection(`The default export of ${file} is not a projection: ${z.prettifyError(parsed.error)}`);
  return parsed.data.default;
}
