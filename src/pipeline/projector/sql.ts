import type { Mutation, Projection, Row, RowValue, TableDefinition } from '../../../projections/definition.js';
import { identifier, identifiers, textArray } from '../../platform/database/parameters.js';
import { UnexpectedState } from './failures.js';

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
  const key = `constraint ${identifier(`${name}$key`)} primary key (${identifiers(table.primaryKey)})`;
  return `create table ${qualified(schema, name)} (${columns.join(', ')}, ${key})`;
}

/** Returns the indexes of a table. Their names contain $, which no table name does. */
function indexesOf(schema: string, name: string, { indexes }: TableDefinition, isUnique: boolean): ReadingIndex[] {
  return indexes.flatMap(({ columns, unique, method = 'btree' }, place) => {
    if (unique !== isUnique) return [];
    const kind = unique ? 'unique index' : 'index';
    const sql = `create ${kind} ${identifier(`${name}$${place + 1}`)} on ${qualified(schema, name)} using ${method} (${identifiers(columns)})`;
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

export function qualified(schema: string, table: string): string {
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
  const all = identifiers([...key, ...statement.columns]);
  const insert = `insert into ${table} as t (${all}) select ${all} from ${given} as g`;
  switch (statement.kind) {
    case 'insert':
      return insert;
    case 'add':
      return `${insert} on conflict (${identifiers(key)}) do update set ${statement.columns
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
/** Changes of one kind in one table, executed by one statement. */
interface Statement {
  readonly kind: Mutation['kind'];
  readonly table: string;
  /** Sorted columns of the rows, without the primary key. */
  readonly columns: readonly string[];
  /**
   * Key and values of each row. Keys are unique, except among rows to insert, where the database
   * refuses duplicates.
   */
  readonly rows: readonly Row[];
}

/**
 * Combines changes into the fewest statements that give the same result in order.
 * @throws UnexpectedState for a table or column that the projection does not have
 */
export function statementsOf(projection: Projection, mutations: readonly Mutation[]): Statement[] {
  const statements: Building[] = [];
  for (const mutation of mutations) {
    const table = projection.tables[mutation.table];
    if (table === undefined) throw new UnexpectedState(`the projection has no table ${mutation.table}`);
    const current = statements.at(-1);
    // Fast path: nearly all rows of a replay have the same form as the previous one.
    if (mutation.kind === 'insert' && current?.takeAlike(mutation.table, mutation.row) === true) continue;
    const next = building(mutation, table);
    if (current === undefined || !current.take(next)) statements.push(next);
  }
  return statements;
}

function building(mutation: Mutation, definition: TableDefinition): Building {
  const { kind, table } = mutation;
  const row = kind === 'insert' ? mutation.row : { ...mutation.key, ...(kind === 'add' ? mutation.by : mutation.set) };
  const columns = Object.keys(row);
  const unknown = columns.find((column) => !Object.hasOwn(definition.columns, column));
  if (unknown !== undefined) throw new UnexpectedState(`table ${table} has no column ${unknown}`);
  const key = kind === 'insert' ? definition.primaryKey : Object.keys(mutation.key);
  if (
    key.length !== definition.primaryKey.length ||
    definition.primaryKey.some((column) => row[column] === undefined)
  ) {
    throw new UnexpectedState(
      `a change of table ${table} must name the columns of the primary key, and in \`key\` no others: ${definition.primaryKey.join(', ')}`,
    );
  }
  const others = columns.filter((column) => !definition.primaryKey.includes(column)).sort();
  return new Building(kind, table, others, definition.primaryKey, row);
}

class Building implements Statement {
  readonly #byKey: Map<string, Row>;
  readonly #inserted: Row[] = [];
  /** The columns of the first row in its own order. */
  readonly #shape: readonly string[];

  constructor(
    readonly kind: Mutation['kind'],
    readonly table: string,
    readonly columns: readonly string[],
    private readonly primaryKey: readonly string[],
    row: Row,
  ) {
    this.#byKey = new Map([[this.#keyOf(row), row]]);
    this.#inserted.push(row);
    this.#shape = Object.keys(row);
  }

  get rows(): readonly Row[] {
    return this.kind === 'insert' ? this.#inserted : [...this.#byKey.values()];
  }

  /**
   * Takes a row to insert whose columns are those of the first row, in the same order.
   * @returns whether it was taken
   */
  takeAlike(table: string, row: Row): boolean {
    if (this.kind !== 'insert' || table !== this.table) return false;
    const columns = Object.keys(row);
    if (columns.length !== this.#shape.length) return false;
    for (let place = 0; place < columns.length; place += 1) if (columns[place] !== this.#shape[place]) return false;
    for (const column of this.primaryKey) if (row[column] === undefined) return false;
    this.#inserted.push(row);
    return true;
  }

  /**
   * Merges the single row of another statement, if the result stays the same.
   * @returns whether it was merged
   */
  take(other: Building): boolean {
    const [row] = other.rows;
    if (row === undefined || other.kind !== this.kind || other.table !== this.table) return false;
    if (other.columns.join() !== this.columns.join()) return false;
    const key = this.#keyOf(row);
    const present = this.#byKey.get(key);
    if (present !== undefined && (this.kind === 'update' || this.kind === 'update-if-present')) return false;
    this.#byKey.set(key, present !== undefined && this.kind === 'add' ? this.#sum(present, row) : row);
    if (this.kind === 'insert') this.#inserted.push(row);
    return true;
  }

  #keyOf(row: Row): string {
    return JSON.stringify(this.primaryKey.map((column) => row[column]));
  }

  #sum(a: Row, b: Row): Row {
    return {
      ...a,
      ...Object.fromEntries(this.columns.map((column) => [column, Number(a[column]) + Number(b[column])])),
    };
  }
}
