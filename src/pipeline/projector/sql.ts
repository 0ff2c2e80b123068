import type { Projection, TableDefinition } from '../../../projections/definition.js';
import type { Statement } from './statements.js';

/** Quotes a name as an SQL identifier. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Returns the schema with the tables of one generation of a projection. */
export function schemaOf(name: string, generation: number): string {
  return `rm_${name}_${generation}`;
}

/** Returns the SQL that creates the tables of a projection in a schema. */
export function createTablesSql(projection: Projection, schema: string): string {
  return Object.entries(projection.tables)
    .map(([name, table]) => createTableSql(schema, name, table))
    .join(';\n');
}

function createTableSql(schema: string, name: string, table: TableDefinition): string {
  const qualified = `${identifier(schema)}.${identifier(name)}`;
  const columns = Object.entries(table.columns).map(
    ([column, { type, nullable }]) => `${identifier(column)} ${type}${nullable ? '' : ' not null'}`,
  );
  const indexes = table.indexes.map(
    ({ columns: indexed, unique }, place) =>
      `create ${unique ? 'unique ' : ''}index ${identifier(`${name}_${place + 1}`)} on ${qualified} (${list(indexed)})`,
  );
  return [
    `create table ${qualified} (${columns.join(', ')}, primary key (${list(table.primaryKey)}))`,
    ...indexes,
  ].join(';\n');
}

/**
 * Returns the text of a statement with one parameter, a JSON array of rows. Each existing row
 * counts once in the number of affected rows.
 */
export function statementSql(projection: Projection, schema: string, statement: Statement): string {
  const definition = projection.tables[statement.table];
  if (definition === undefined) throw new RangeError(`no table ${statement.table}`);
  const table = `${identifier(schema)}.${identifier(statement.table)}`;
  const key = definition.primaryKey;
  const all = list([...key, ...statement.columns]);
  const given = `json_populate_recordset(null::${table}, $1::json)`;
  const insert = `insert into ${table} as t (${all}) select ${all} from ${given}`;
  switch (statement.kind) {
    case 'insert':
      return insert;
    case 'add':
      return `${insert} on conflict (${list(key)}) do update set ${statement.columns
        .map(identifier)
        .map((column) => `${column} = coalesce(t.${column}, 0) + excluded.${column}`)
        .join(', ')}`;
    case 'update':
    case 'update-if-present':
      return `update ${table} as t set ${statement.columns
        .map(identifier)
        .map((column) => `${column} = g.${column}`)
        .join(', ')} from ${given} as g where ${key
        .map(identifier)
        .map((column) => `t.${column} = g.${column}`)
        .join(' and ')}`;
  }
}

export function list(names: readonly string[]): string {
  return names.map(identifier).join(', ');
}
