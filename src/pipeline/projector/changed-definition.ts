import * as z from 'zod';
import type { Projection } from '../../../projections/definition.js';
import type { Queryable } from '../../platform/database/pool.js';
import { readStored } from './generations.js';
import { schemaOf } from './sql.js';

/** The definition has other columns than the live tables, although its version is the same. */
export class DefinitionChanged extends Error {
  override readonly name = 'DefinitionChanged';
}

const columnRows = z.array(z.object({ column: z.string(), type: z.string() }));

/**
 * Refuses a definition that has the version of the live read model and other columns, because the
 * two cannot be compared.
 * @throws DefinitionChanged, which names the columns
 */
export async function refuseChangedDefinition(db: Queryable, projection: Projection): Promise<void> {
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
