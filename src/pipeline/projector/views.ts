import pg from 'pg';
import * as z from 'zod';
import type { Projection } from '../../../projections/definition.js';
import { identifier } from '../../platform/database/parameters.js';
import type { Queryable } from '../../platform/database/pool.js';
import { READ_MODEL_READERS } from '../../platform/database/session.js';
import { schemaOf } from './sql.js';

/** Another projection already has a view with this name. */
export class ViewTaken extends Error {
  override readonly name = 'ViewTaken';
}

/** An object of the database outside the service depends on a view that must be dropped. */
export class ViewInUse extends Error {
  override readonly name = 'ViewInUse';
}

const DEPENDENT_OBJECTS_STILL_EXIST = '2BP01';

const viewRows = z.array(z.object({ view: z.string() }));

/**
 * Points the views of `read_model` to this generation and records it as the live one. Rights that
 * other roles have on a view survive.
 * @param db a handle in a transaction: readers see the old generation until it commits, and then the new one
 * @throws ViewTaken
 * @throws ViewInUse if a view changes its columns and an object of the database depends on it
 */
export async function showGeneration(db: Queryable, projection: Projection, generation: number): Promise<void> {
  const { name } = projection;
  const { rows } = await db.query('delete from projection_views where name = $1 returning view', [name]);
  const old = viewRows.parse(rows).map(({ view }) => view);
  for (const view of old) if (!Object.hasOwn(projection.tables, view)) await dropView(db, view);
  for (const table of Object.keys(projection.tables)) {
    const { rowCount } = await db.query(
      'insert into projection_views (view, name) values ($1, $2) on conflict (view) do nothing',
      [table, name],
    );
    if (rowCount !== 1) throw new ViewTaken(`Another projection has a table ${table}. Choose another name.`);
    await showTable(db, table, schemaOf(name, generation));
  }
  await db.query(
    `update projections set live_generation = $2, state = 'running', problem = null, changed_at = now() where name = $1`,
    [name, generation],
  );
}

/**
 * Drops the views of a projection, which then has no live generation.
 * @param db a handle in a transaction
 * @throws ViewInUse
 */
export async function hideViews(db: Queryable, name: string): Promise<void> {
  const { rows } = await db.query('delete from projection_views where name = $1 returning view', [name]);
  for (const { view } of viewRows.parse(rows)) await dropView(db, view);
  await db.query('update projections set live_generation = null, changed_at = now() where name = $1', [name]);
}

async function showTable(db: Queryable, table: string, schema: string): Promise<void> {
  const view = `read_model.${identifier(table)}`;
  const from = `${identifier(schema)}.${identifier(table)}`;
  if (await hasColumnsOf(db, view, from)) {
    // Keeps the rights, and views of others that read from this one.
    await db.query(`create or replace view ${view} as select * from ${from}`);
    return;
  }
  const rights = await rightsOn(db, view);
  await dropView(db, table);
  await db.query(`create view ${view} as select * from ${from}; grant select on ${view} to ${READ_MODEL_READERS}`);
  for (const { column, statement } of rights)
    if (column === null || (await hasColumn(db, view, column))) await db.query(statement);
}

async function dropView(db: Queryable, view: string): Promise<void> {
  try {
    await db.query(`drop view if exists read_model.${identifier(view)}`);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== DEPENDENT_OBJECTS_STILL_EXIST) throw error;
    throw new ViewInUse(
      `The view read_model.${view} must be dropped, and other objects of the database depend on it: ${error.detail ?? ''} Drop those first.`,
      { cause: error },
    );
  }
}

const sameRows = z.array(z.object({ same: z.boolean().nullable() }));

/** Returns whether the view exists and has the columns of the table, in the same order. */
async function hasColumnsOf(db: Queryable, view: string, table: string): Promise<boolean> {
  const columns = (relation: string) =>
    `(select array_agg(a.attname || ' ' || a.atttypid order by a.attnum) from pg_attribute a
       where a.attrelid = to_regclass(${relation}) and a.attnum > 0 and not a.attisdropped)`;
  const { rows } = await db.query(`select ${columns('$1::text')} = ${columns('$2::text')} as same`, [view, table]);
  return sameRows.parse(rows)[0]?.same === true;
}

async function hasColumn(db: Queryable, view: string, column: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'select from pg_attribute where attrelid = to_regclass($1::text) and attname = $2 and attnum > 0 and not attisdropped',
    [view, column],
  );
  return rowCount === 1;
}

const rightRows = z.array(z.object({ column: z.string().nullable(), statement: z.string() }));

/** Returns the statements that grant the rights of other roles on a view again. */
async function rightsOn(db: Queryable, view: string): Promise<z.infer<typeof rightRows>> {
  const { rows } = await db.query(
    `select r.column_name as column,
            format('grant %s%s on %s to %s%s', acl.privilege_type,
                   case when r.column_name is null then '' else format(' (%I)', r.column_name) end, $1::text,
                   case acl.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(acl.grantee)) end,
                   case when acl.is_grantable then ' with grant option' else '' end) as statement
       from (select null::name as column_name, relacl as acl, relowner from pg_class where oid = to_regclass($1::text)
             union all
             select a.attname, a.attacl, c.relowner from pg_attribute a join pg_class c on c.oid = a.attrelid
              where c.oid = to_regclass($1::text) and a.attnum > 0 and not a.attisdropped) r
      cross join lateral aclexplode(r.acl) acl
      where acl.grantee <> r.relowner`,
    [view],
  );
  return rightRows.parse(rows);
}
