import type { Projection, Row, RowValue, TableDefinition } from '../../../projections/definition.js';
import { textArray } from '../../platform/database/parameters.js';
import type { Statement } from './statements.js';

/** Quotes a name as an SQL identifier. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Returns the schema with the tables of one generation of a projection. */
export function schemaOf(name: string, generation: number): string {
  return `rm_${name}_${generation}`;
}

/**
 * Returns the SQL that creates the tables of a projection in a schema, with the indexes that must
 * refuse a row: primary keys and unique ones.
 */
export function createTablesSql(projection: Projection, schema: string): string {
  return Object.entries(projection.tables)
    .flatMap(([name, table]) => [
      createTableSql(schema, name, table),
      ...indexesOf(schema, name, table, true).map(({ sql }) => sql),
    ])
    .join(';\n');
}

/** An index of a table that only makes reading fast. */
export interface ReadingIndex {
  readonly table: string;
  readonly columns: readonly string[];
  /** The statement that creates it. */
  readonly sql: string;
}

/** Returns the other indexes, which only make reading fast. */
export function readingIndexes(projection: Projection, schema: string): readonly ReadingIndex[] {
  return Object.entries(projection.tables).flatMap(([name, table]) => indexesOf(schema, name, table, false));
}

function createTableSql(schema: string, name: string, table: TableDefinition): string {
  const columns = Object.entries(table.columns).map(
    ([column, { type, nullable }]) => `${identifier(column)} ${type}${nullable ? '' : ' not null'}`,
  );
  const key = `constraint ${identifier(`${name}$key`)} primary key (${list(table.primaryKey)})`;
  return `create table ${qualified(schema, name)} (${columns.join(', ')}, ${key})`;
}

/** No table has a name with $, so that no index has the name of a table. */
function indexesOf(schema: string, name: string, { indexes }: TableDefinition, isUnique: boolean): ReadingIndex[] {
  return indexes.flatMap(({ columns, unique, method = 'btree' }, place) => {
    if (unique !== isUnique) return [];
    const kind = unique ? 'unique index' : 'index';
    const sql = `create ${kind} ${identifier(`${name}$${place + 1}`)} on ${qualified(schema, name)} using ${method} (${list(columns)})`;
    return [{ table: name, columns, sql }];
  });
}

/** Returns the query for the primary key of the row whose values of these columns are the widest, as text. */
export function widestRowSql(
  { name, tables }: Projection,
  schema: string,
  { table, columns }: Pick<ReadingIndex, 'table' | 'columns'>,
): string {
  const key = tables[table]?.primaryKey;
  if (key === undefined) throw new RangeError(`the projection ${name} has no table ${table}`);
  const width = columns.map((column) => `coalesce(octet_length(${identifier(column)}::text), 0)`).join(' + ');
  return `select array[${key.map((column) => `${identifier(column)}::text`).join(', ')}] as key
    from ${qualified(schema, table)} order by ${width} desc limit 1`;
}

function qualified(schema: string, table: string): string {
  return `${identifier(schema)}.${identifier(table)}`;
}

/**
 * Returns a statement and its parameters: for each column, the values of all rows as an array of
 * texts. Each existing row counts once in the number of affected rows.
 */
export function statementSql(
  projection: Projection,
  schema: string,
  statement: Statement,
): { readonly text: string; readonly values: Buffer[] } {
  const definition = projection.tables[statement.table];
  if (definition === undefined) throw new RangeError(`no table ${statement.table}`);
  const columns = [...definition.primaryKey, ...statement.columns];
  const types = columns.map((column) => columnType(projection, statement.table, column));
  const values = columns.map((column, place) => columnValues(statement.rows, column, types[place] ?? 'text'));
  const names = columns.map(identifier);
  const cast = names.map((name, place) => `v.${name}::${types[place]} as ${name}`).join(', ');
  const arrays = names.map((_, place) => `$${place + 1}::text[]`).join(', ');
  const given = `(select ${cast} from unnest(${arrays}) as v (${names.join(', ')}))`;
  return { text: textWith(given, definition, schema, statement), values };
}

/** Returns the SQL type of a column; `text` for a column that the definition does not have. */
export function columnType(projection: Projection, table: string, column: string): string {
  return projection.tables[table]?.columns[column]?.type ?? 'text';
}

/** Returns the values of one column in all rows, as an array of texts in PostgreSQL's binary format. */
export function columnValues(rows: readonly Row[], column: string, type: string): Buffer {
  return textArray(rows.map((row) => textOf(row[column] ?? null, type === 'jsonb')));
}

/** The value as PostgreSQL reads it from text. */
function textOf(value: RowValue, isJson: boolean): string | null {
  if (value === null) return null;
  return isJson || typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function textWith(given: string, definition: TableDefinition, schema: string, statement: Statement): string {
  const table = qualified(schema, statement.table);
  const key = definition.primaryKey;
  const all = list([...key, ...statement.columns]);
  const insert = `insert into ${table} as t (${all}) select ${all} from ${given} as g`;
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
