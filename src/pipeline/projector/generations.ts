import pg from 'pg';
import * as z from 'zod';
import type { Projection } from '../../../projections/definition.js';
import { identifier } from '../../platform/database/parameters.js';
import type { Queryable } from '../../platform/database/pool.js';
import { withTransaction } from '../../platform/database/pool.js';
import type { Position } from '../event-log/port.js';
import { type Problem, ProjectionFailure } from './failures.js';
import { columnType, createTablesSql, type ReadingIndex, readingIndexes, schemaOf, widestRowSql } from './sql.js';

/** One set of the tables of a projection. */
export interface Generation {
  readonly generation: number;
  /** Version of the definition that created it. */
  readonly version: number;
  /** Last position of the log that it contains, or null if it contains none yet. */
  readonly position: Position | null;
  /** Number of events read. */
  readonly events: number;
}

export type ProjectionState = 'running' | 'stopped' | 'needs_rebuild';

/** A projection as stored in the database. */
export interface StoredProjection {
  readonly state: ProjectionState;
  readonly problem: Problem | null;
  readonly changedAt: Date;
  /** The generation that the views show. */
  readonly live: Generation | null;
}

const problemSchema = z.object({
  reason: z.string(),
  event: z.object({ id: z.string(), type: z.string(), stream: z.string(), revision: z.int() }).optional(),
});
const storedRows = z
  .array(
    z.object({
      state: z.enum(['running', 'stopped', 'needs_rebuild']),
      problem: problemSchema.nullable(),
      changed_at: z.date(),
      generation: z.int().nullable(),
      version: z.int().nullable(),
      position: z.string().nullable(),
      events: z.int().nullable(),
    }),
  )
  .max(1);

/** @returns null if this database never built the projection */
export async function readStored(db: Queryable, name: string): Promise<StoredProjection | null> {
  const { rows } = await db.query(
    `select p.state, p.problem, p.changed_at, g.generation, g.version, g.position, g.events
       from projections p left join projection_generations g on g.name = p.name and g.generation = p.live_generation
      where p.name = $1`,
    [name],
  );
  const [row] = storedRows.parse(rows);
  if (row === undefined) return null;
  const { state, problem, changed_at: changedAt, generation, version, position, events } = row;
  const live =
    generation === null || version === null || events === null ? null : { generation, version, position, events };
  return { state, problem: problem === null ? null : toProblem(problem), changedAt, live };
}

function toProblem({ reason, event }: z.infer<typeof problemSchema>): Problem {
  return event === undefined ? { reason } : { reason, event };
}

const generationRows = z.array(z.object({ generation: z.int() }));

/**
 * Creates a new, empty generation, without the indexes that `createIndexes` adds. Existing
 * generations remain.
 */
export async function createGeneration(db: Queryable, projection: Projection): Promise<Generation> {
  const { name, version } = projection;
  return withTransaction(db, async (db) => {
    await db.query(`insert into projections (name, state) values ($1, 'running') on conflict (name) do nothing`, [
      name,
    ]);
    const { rows } = await db.query(
      `insert into projection_generations (name, generation, version, events)
       select $1, coalesce(max(generation), 0) + 1, $2, 0 from projection_generations where name = $1
       returning generation`,
      [name, version],
    );
    const [row] = generationRows.parse(rows);
    if (row === undefined) throw new RangeError('no generation was made');
    await db.query('select create_projection_schema($1, $2)', [name, row.generation]);
    await db.query(createTablesSql(projection, schemaOf(name, row.generation)));
    return { generation: row.generation, version, position: null, events: 0 };
  });
}

/** SQLSTATE of a row that is too wide for an index. */
const PROGRAM_LIMIT_EXCEEDED = '54000';

/** Half a day, in milliseconds: longer than the indexes of any table that can reasonably be rebuilt. */
const INDEX_TIMEOUT_MS = 43_200_000;

/**
 * Adds to a generation the indexes that make reading fast. An index over all rows at once costs less
 * than an index that grows with each row.
 * @throws ProjectionFailure for a value that is too wide for an index
 */
export async function createIndexes(db: Queryable, projection: Projection, generation: number): Promise<void> {
  const schema = schemaOf(projection.name, generation);
  for (const index of readingIndexes(projection, schema)) {
    const created = withTransaction(db, async (db) => {
      await db.query(`set local statement_timeout = ${INDEX_TIMEOUT_MS}`);
      const statement: pg.QueryConfig & Pick<pg.ClientConfig, 'query_timeout'> = {
        text: index.sql,
        query_timeout: INDEX_TIMEOUT_MS,
      };
      await db.query(statement);
    });
    await created.catch(async (error: unknown) => {
      throw isTooWide(error) ? await tooWide(db, projection, schema, index, error) : error;
    });
  }
}

function isTooWide(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === PROGRAM_LIMIT_EXCEEDED;
}

const widestRows = z.array(z.object({ key: z.array(z.string()) }));

/**
 * Returns the failure of an index at the end of a rebuild. There is no current event then, so it names the row instead.
 */
async function tooWide(
  db: Queryable,
  projection: Projection,
  schema: string,
  index: ReadingIndex,
  cause: unknown,
): Promise<ProjectionFailure> {
  const { table, columns } = index;
  const key = projection.tables[table]?.primaryKey ?? [];
  const types = key.map((column) => columnType(projection, table, column));
  const { rows } = await db.query(widestRowSql(projection, schema, index));
  const [widest] = widestRows.parse(rows);
  // Other types can hold arbitrary content, which failures must not repeat.
  const isId = types.every((type) => ['uuid', 'bigint', 'integer'].includes(type));
  const row = widest !== undefined && isId ? `, the one with ${key.join(', ')} = ${widest.key.join(', ')}` : '';
  const reason =
    `a row of ${table}${row} has values in ${columns.join(', ')} that are too wide for an index ` +
    '(2,700 bytes after compression): shorten them, index a hash of them, or leave out the index';
  return new ProjectionFailure(projection.name, { reason }, { cause });
}

/**
 * Drops the generations that the views do not show, left by a swap or an interrupted rebuild. A generation that a
 * reader still locks is left for the next call.
 */
export async function dropUnusedGenerations(db: Queryable, name: string): Promise<void> {
  const { rows } = await db.query(
    `select g.generation from projection_generations g join projections p on p.name = g.name
      where g.name = $1 and g.generation is distinct from p.live_generation order by 1`,
    [name],
  );
  for (const { generation } of generationRows.parse(rows)) {
    const dropped = withTransaction(db, async (db) => {
      await db.query(`drop schema if exists ${identifier(schemaOf(name, generation))} cascade`);
      await db.query('delete from projection_generations where name = $1 and generation = $2', [name, generation]);
    });
    await dropped.catch((error: unknown) => {
      if (!isStillRead(error)) throw error;
    });
  }
}

/**
 * Deletes a projection without views.
 * @returns false while a generation remains
 */
export async function deleteProjection(db: Queryable, name: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'delete from projections p where name = $1 and not exists (select from projection_generations g where g.name = p.name)',
    [name],
  );
  return rowCount === 1;
}

/** Returns whether readers held a lock beyond the lock or statement timeout. */
function isStillRead(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '57014' || error.code === '55P03');
}

/** Records a change of state; `problem` only for a stopped projection. */
export async function setState(
  db: Queryable,
  name: string,
  state: ProjectionState,
  problem: Problem | null,
): Promise<void> {
  await db.query('update projections set state = $2, problem = $3, changed_at = now() where name = $1', [
    name,
    state,
    problem === null ? null : JSON.stringify(problem),
  ]);
}
