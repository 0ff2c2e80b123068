import type pg from 'pg';
import * as z from 'zod';
import type { Projection } from '../../projections/definition.js';
import { PROJECTIONS } from '../../projections/index.js';
import {
  advanceReplays,
  createReplay,
  type Generation,
  isReached,
  ProjectionFailure,
  type ReplayTarget,
  readLive,
  schemaOf,
  type TemporaryReplay,
} from '../pipeline/projector/index.js';
import type { Queryable } from '../platform/database/pool.js';
import type { Finding } from './finding.js';
import type { Section } from './section.js';
import { compareWithLog, withReplay } from './shadow.js';

/**
 * Replays all projections into temporary tables in one pass over the log, and compares them with what the views show.
 */
export async function auditReadModels(section: Section): Promise<void> {
  // A rebuild that swaps the tables meanwhile invalidates the comparison, and a failed replay ends the others.
  for (let open = PROJECTIONS; open.length > 0; ) {
    const compared: Live[] = [];
    for (const projection of open) compared.push(...(await comparableGeneration(section, projection)));
    open =
      compared.length === 0 ? [] : await withReplay(section.db, (client) => compareReplays(section, client, compared));
  }
}

/** A projection, and the generation that its views show. */
interface Live {
  readonly projection: Projection;
  readonly generation: Generation;
}

interface Replayed extends Live {
  readonly replay: TemporaryReplay;
}

/**
 * Reports a projection that stands still.
 * @returns what can be compared with its replay; an empty list if nothing can
 */
async function comparableGeneration({ db, findings }: Section, projection: Projection): Promise<readonly Live[]> {
  const { name } = projection;
  const stored = await readLive(db, name);
  if (stored?.live == null) {
    findings.add({ kind: 'stopped-part', table: 'projections', key: name, detail: 'the projection was never built' });
    return [];
  }
  if (stored.state !== 'running' || stored.problem !== null)
    findings.add({ kind: 'stopped-part', table: 'projections', key: name, detail: `its state is ${stored.state}` });
  if (stored.live.version === projection.version) return [{ projection, generation: stored.live }];
  findings.add({
    kind: 'derived-differs',
    table: 'projection_generations',
    key: `${name} ${stored.live.generation}`,
    columns: ['version'],
    detail: `it has version ${stored.live.version}, and the program ${projection.version}`,
  });
  return [];
}

/** @returns the projections that must be compared again */
async function compareReplays(
  section: Section,
  client: pg.PoolClient,
  compared: readonly Live[],
): Promise<readonly Projection[]> {
  const { findings } = section;
  try {
    return await replayAndCompare(section, client, compared);
  } catch (error) {
    if (!(error instanceof ProjectionFailure)) throw error;
    const key = error.problem.event?.id ?? '';
    const detail = `${error.message}; ${error.projection} was not compared`;
    findings.add({ kind: 'event-altered', table: 'event_log.events', key, detail });
    return compared.flatMap(({ projection }) => (projection.name === error.projection ? [] : projection));
  }
}

async function replayAndCompare(
  section: Section,
  client: pg.PoolClient,
  compared: readonly Live[],
): Promise<readonly Projection[]> {
  const { db, eventLog, step } = section;
  const total = Math.max(...compared.map(({ generation }) => generation.events));
  let done = 0;
  const advance = (targets: readonly ReplayTarget[]): Promise<void> =>
    advanceReplays(eventLog, targets, async (events) => {
      done += events;
      await step(done, Math.max(total, done));
    });
  const replays: Replayed[] = [];
  for (const live of compared) replays.push({ ...live, replay: await createReplay(client, live.projection) });
  // Most events are replayed before the snapshot, which is only held for the rest.
  await advance(replays.flatMap(targetOf));
  await client.query('begin isolation level repeatable read');
  const now: Replayed[] = [];
  for (const one of replays) {
    const live = (await readLive(client, one.projection.name))?.live ?? null;
    if (live?.generation === one.generation.generation) now.push({ ...one, generation: live });
  }
  await advance(now.flatMap(targetOf));
  for (const one of now) await compareTables(section, client, one);
  await client.query('commit');
  const isSame = new Set<Projection>();
  for (const { projection, generation, replay } of now) {
    await replay.empty();
    const differences = await differencesOfTables(client, projection, generation.generation);
    if ((await readLive(db, projection.name))?.live?.generation !== generation.generation) continue;
    isSame.add(projection);
    for (const difference of differences) section.findings.add(difference);
  }
  return compared.flatMap(({ projection }) => (isSame.has(projection) ? [] : projection));
}

function targetOf({ replay, generation: { position } }: Replayed): readonly ReplayTarget[] {
  return position === null ? [] : [{ replay, until: position }];
}

async function compareTables(section: Section, client: pg.PoolClient, replayed: Replayed): Promise<void> {
  const { projection, generation, replay } = replayed;
  const { position, events } = generation;
  const isWhole = targetOf(replayed).every(isReached);
  if (!isWhole || replay.events !== events)
    section.findings.add({
      kind: 'derived-differs',
      table: 'projection_generations',
      key: `${projection.name} ${generation.generation}`,
      columns: isWhole ? ['events', 'position'] : ['position'],
      detail: `it claims ${events} events up to ${position}, and the log has ${replay.events}`,
    });
  if (!isWhole) return;
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

const Rows = z.array(z.object({ table: z.string(), part: z.string(), must: z.string(), is: z.string().nullable() }));

/** Columns and indexes of a connection's temporary tables that are different or missing in a schema. */
const PARTS_SQL = `
with tables as (
  select c.oid, c.relname::text as name, c.relnamespace = pg_my_temp_schema() as is_wanted from pg_class c
   where c.relnamespace in (pg_my_temp_schema(), to_regnamespace($1)) and c.relkind = 'r' and c.relname = any($2::text[])
), parts as (
  select t.is_wanted, t.name as table, 'column ' || a.attname as part,
         format_type(a.atttypid, a.atttypmod) || case when a.attnotnull then ' not null' else '' end as definition
    from tables t join pg_attribute a on a.attrelid = t.oid where a.attnum > 0 and not a.attisdropped
  union all
  select t.is_wanted, t.name, 'index ' || x.relname,
         concat_ws(' ', case when i.indisunique then 'unique' end, m.amname,
           '(' || (select string_agg(pg_get_indexdef(x.oid, k, false), ', ' order by k) from generate_series(1, i.indnatts) k) || ')',
           case when not (i.indisvalid and i.indisready and i.indislive) then 'invalid' end)
    from tables t join pg_index i on i.indrelid = t.oid join pg_class x on x.oid = i.indexrelid join pg_am m on m.oid = x.relam
)
select w.table, w.part, w.definition as must, f.definition as is
  from parts w left join parts f on f.table = w.table and f.part = w.part and not f.is_wanted
 where w.is_wanted and f.definition is distinct from w.definition`;

/**
 * Compares the columns and indexes of a generation with those of its replay: a rebuild makes the tables
 * from the definition of the projection, so that no migration states them.
 * @param db the connection of the replay
 * @returns one finding for each difference
 */
async function differencesOfTables(
  db: Queryable,
  { name, tables }: Pick<Projection, 'name' | 'tables'>,
  generation: number,
): Promise<readonly Omit<Finding, 'columns'>[]> {
  const { rows } = await db.query(PARTS_SQL, [schemaOf(name, generation), Object.keys(tables)]);
  return Rows.parse(rows).map(({ table, part: key, must, is }) => {
    const detail = is === null ? `it is missing: ${must}` : `it is "${is}" and must be "${must}"`;
    return { kind: 'derived-differs', table: `read_model.${table}`, key, detail };
  });
}
