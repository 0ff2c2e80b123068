import * as z from 'zod';
import type { Projection, TableDefinition } from '../../projections/definition.js';
import { schemaOf } from '../pipeline/projector/index.js';
import type { Queryable } from '../platform/database/pool.js';
import type { Finding } from './finding.js';

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
export async function differencesOfTables(
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
