import type { Mutation, Projection, Row, TableDefinition } from '../../../projections/definition.js';
import { UnexpectedState } from './failures.js';

/** Changes of one kind in one table, executed by one statement. */
export interface Statement {
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
    // Nearly all rows of a replay are like the one before.
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
