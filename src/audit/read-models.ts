import type pg from 'pg';
import * as z from 'zod';
import type { Projection, TableDefinition } from '../../projections/definition.js';
import { PROJECTIONS } from '../../projections/index.js';
import { createReplay, type Generation, ProjectionFailure, readLive, schemaOf } from '../pipeline/projector/index.js';
import type { Queryable } from '../platform/database/pool.js';
import type { Finding } from './finding.js';
import type { Section } from './section.js';
import { compareWithLog, withReplay } from './shadow.js';

/** Replays each projection into temporary tables, and compares them with what the views show. */
export async function auditReadModels(section: Section): Promise<void> {
  let done = 0;
  for (const projection of PROJECTIONS) {
    // A rebuild that swaps the tables meanwhile makes the comparison void.
    for (let isDone = false; !isDone; )
      isDone = await auditProjection(section, projection, async (events, total) => {
        await section.step(done + events, total === null ? null : total * PROJECTIONS.length);
      });
    done += (await readLive(section.db, projection.name))?.live?.events ?? 0;
  }
}

type Step = (events: number, total: number | null) => Promise<void>;

/** @returns false if the projection was rebuilt meanwhile */
async function auditProjection(section: Section, projection: Projection, step: Step): Promise<boolean> {
  const { db, findings } = section;
  const { name } = projection;
  const stored = await readLive(db, name);
  if (stored?.live == null) {
    findings.add({ kind: 'stopped-part', table: 'projections', key: name, detail: 'the projection was never built' });
    return true;
  }
  if (stored.state !== 'running' || stored.problem !== null)
    findings.add({ kind: 'stopped-part', table: 'projections', key: name, detail: `its state is ${stored.state}` });
  if (stored.live.version !== projection.version) {
    findings.add({
      kind: 'derived-differs',
      table: 'projection_generations',
      key: `${name} ${stored.live.generation}`,
      columns: ['version'],
      detail: `it has version ${stored.live.version}, and the program ${projection.version}`,
    });
    return true;
  }
  try {
    return await withReplay(db, (client) => compareReplay(section, client, projection, stored.live, step));
  } catch (error) {
    if (!(error instanceof ProjectionFailure)) throw error;
    const key = error.problem.event?.id ?? '';
    findings.add({
      kind: 'event-altered',
      table: 'event_log.events',
      key,
      detail: `${error.message}; ${name} was not compared`,
    });
    return true;
  }
}

async function compareReplay(
  section: Section,
  client: pg.PoolClient,
  projection: Projection,
  before: Generation | null,
  step: Step,
): Promise<boolean> {
  const { db, eventLog, findings } = section;
  const { name } = projection;
  const replay = createReplay(client, eventLog, projection);
  await replay.start();
  // Most events are replayed before the snapshot, which is held for the rest only.
  if (before?.position != null) await replay.advance(before.position, (events) => step(events, before.events));
  await client.query('begin isolation level repeatable read');
  const live = (await readLive(client, name))?.live ?? null;
  if (live?.generation !== before?.generation) return false;
  const position = live?.position ?? null;
  const isReached =
    position === null || (await replay.advance(position, (events) => step(events, live?.events ?? null)));
  if (!isReached || replay.events !== live?.events)
    findings.add({
      kind: 'derived-differs',
      table: 'projection_generations',
      key: `${name} ${live?.generation}`,
      columns: isReached ? ['events', 'position'] : ['position'],
      detail: `it claims ${live?.events} events up to ${position}, and the log has ${replay.events}`,
    });
  if (isReached) await compareTables(section, client, projection);
  await client.query('commit');
  const differences = live === null ? [] : await differencesOfTables(db, projection, live.generation);
  const isSame = (await readLive(db, name))?.live?.generation === before?.generation;
  if (isSame) for (const difference of differences) findings.add(difference);
  return isSame;
}

async function compareTables(section: Section, client: pg.PoolClient, projection: Projection): Promise<void> {
  for (const [table, definition] of Object.entries(projection.tables)) {
    // Without statistics, each range could be joined by a pass over the whole table.
    await client.query(`analyze pg_temp."${table}"`);
    const columns = Object.keys(definition.columns).filter((column) => !definition.primaryKey.includes(column));
    const name = `read_model.${table}`;
    const compared = {
      live: `read_model."${table}"`,
      expected: `pg_temp."${table}"`,
      key: definition.primaryKey,
      columns,
    };
    await compareWithLog(section, client, { name, ...compared }, () => section.step(0, null));
  }
}

const Rows = z.array(z.object({ table: z.string(), part: z.string(), definition: z.string() }));

/** Columns and indexes of the tables of a schema. An index is described as in `wantedParts`. */
const PARTS_SQL = `
with tables as (
  select c.oid, c.relname::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where n.nspname = $1 and c.relkind = 'r'
)
select t.name as table, 'column ' || a.attname as part,
       format_type(a.atttypid, a.atttypmod) || case when a.attnotnull then ' not null' else '' end as definition
  from tables t join pg_attribute a on a.attrelid = t.oid where a.attnum > 0 and not a.attisdropped
union all
select t.name, 'index ' || x.relname,
       concat_ws(' ', case when i.indisunique then 'unique' end, m.amname,
         '(' || (select string_agg(pg_get_indexdef(x.oid, k, false), ', ' order by k) from generate_series(1, i.indnatts) k) || ')',
         case when not (i.indisvalid and i.indisready and i.indislive) then 'invalid' end)
  from tables t join pg_index i on i.indrelid = t.oid join pg_class x on x.oid = i.indexrelid join pg_am m on m.oid = x.relam`;

/**
 * Compares the columns and indexes of a generation with the definition of its projection: a rebuild makes
 * the tables from the definition, so that no migration states them.
 * @param generation of this version of the projection
 * @returns one finding for each difference
 */
async function differencesOfTables(
  db: Queryable,
  { name, tables }: Pick<Projection, 'name' | 'tables'>,
  generation: number,
): Promise<readonly Omit<Finding, 'columns'>[]> {
  const { rows } = await db.query(PARTS_SQL, [schemaOf(name, generation)]);
  const found = new Map(Rows.parse(rows).map(({ table, part, definition }) => [`${table} ${part}`, definition]));
  return Object.entries(tables).flatMap(([table, definition]) =>
    wantedParts(table, definition).flatMap(([part, must]) => {
      const is = found.get(`${table} ${part}`);
      if (is === must) return [];
      const detail = is === undefined ? `it is missing: ${must}` : `it is "${is}" and must be "${must}"`;
      return [{ kind: 'derived-differs' as const, table: `read_model.${table}`, key: part, detail }];
    }),
  );
}

function wantedParts(
  table: string,
  { columns, primaryKey, indexes }: TableDefinition,
): readonly (readonly [string, string])[] {
  return [
    ...Object.entries(columns).map(
      ([name, { type, nullable }]) =>
        [
          `column ${name}`,
          `${type === 'timestamptz' ? 'timestamp with time zone' : type}${nullable ? '' : ' not null'}`,
        ] as const,
    ),
    [`index ${table}$key`, `unique btree (${primaryKey.join(', ')})`],
    ...indexes.map(
      ({ columns, unique, method = 'btree' }, place) =>
        [`index ${table}$${place + 1}`, `${unique ? 'unique ' : ''}${method} (${columns.join(', ')})`] as const,
    ),
  ];
}
