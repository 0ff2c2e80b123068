import * as z from 'zod';
import type { Projection, TableDefinition } from '../../../projections/definition.js';
import type { Queryable } from '../../platform/database/pool.js';
import { identifier, list, schemaOf } from './sql.js';

/** Rows of the first table that one query compares. */
const PAGE = 2_000;

/** Comparison of two generations of a table at one position of the log. */
export interface TableComparison {
  readonly table: string;
  readonly equal: boolean;
  /** Number of equal rows. */
  readonly rows: number;
  /**
   * Primary key of the last row that was found equal; the first difference follows it. Null: the
   * first range differs, or there is no difference.
   */
  readonly differsBehind: readonly string[] | null;
}

/**
 * Compares the tables of two generations range by range, in the order of the primary key. Both
 * generations must remain at the same position.
 */
export async function compareGenerations(
  db: Queryable,
  projection: Projection,
  a: number,
  b: number,
): Promise<TableComparison[]> {
  const comparisons: TableComparison[] = [];
  for (const [name, table] of Object.entries(projection.tables)) {
    const tableOf = (generation: number) => `${identifier(schemaOf(projection.name, generation))}.${identifier(name)}`;
    comparisons.push({ table: name, ...(await compareTables(db, table, tableOf(a), tableOf(b))) });
  }
  return comparisons;
}

async function compareTables(
  db: Queryable,
  table: TableDefinition,
  a: string,
  b: string,
): Promise<Omit<TableComparison, 'table'>> {
  let rows = 0;
  for await (const range of comparedRanges(db, table, [a, b])) {
    if (!range.equal) return { equal: false, rows, differsBehind: range.after };
    rows += range.rows;
  }
  return { equal: true, rows, differsBehind: null };
}

/** Compares the ranges in order. Two are compared at a time, because one PostgreSQL backend uses one processor. */
async function* comparedRanges(
  db: Queryable,
  table: TableDefinition,
  tables: readonly [string, string],
): AsyncGenerator<ComparedRange, void, undefined> {
  let earlier: Promise<ComparedRange> | null = null;
  for await (const range of keyRanges(db, table, tables[0])) {
    const comparing = compareRange(db, table, tables, range);
    // A failure is thrown where the promise is awaited.
    comparing.catch(() => undefined);
    if (earlier !== null) yield await earlier;
    earlier = comparing;
  }
  if (earlier !== null) yield await earlier;
}

/** Rows of a table after one primary key, up to and including another; null means no limit. */
interface KeyRange {
  readonly after: readonly string[] | null;
  readonly upTo: readonly string[] | null;
}

const keyRows = z.array(z.object({ key: z.array(z.string()) })).max(1);

/** Ranges of at most `PAGE` rows of a table, in the order of the primary key. The last has no end. */
async function* keyRanges(
  db: Queryable,
  definition: TableDefinition,
  table: string,
): AsyncGenerator<KeyRange, void, undefined> {
  const key = list(definition.primaryKey);
  const asText = definition.primaryKey.map((column) => `${identifier(column)}::text`).join(', ');
  let after: readonly string[] | null = null;
  for (;;) {
    const { where, values } = within(definition, { after, upTo: null });
    const { rows } = await db.query(
      `select array[${asText}] as key from ${table} ${where} order by ${key} offset ${PAGE - 1} limit 1`,
      values,
    );
    const upTo: readonly string[] | null = keyRows.parse(rows)[0]?.key ?? null;
    yield { after, upTo };
    if (upTo === null) return;
    after = upTo;
  }
}

const comparedRows = z.tuple([z.object({ equal: z.boolean(), rows: z.int() })]);
type ComparedRange = z.infer<typeof comparedRows>[0] & Pick<KeyRange, 'after'>;

/**
 * Compares the rows of both tables in a range, byte by byte as PostgreSQL stores them (`*<>`).
 * @returns whether all are equal, how many there are in that case, and the key that they follow
 */
async function compareRange(
  db: Queryable,
  definition: TableDefinition,
  tables: readonly [string, string],
  range: KeyRange,
): Promise<ComparedRange> {
  const key = list(definition.primaryKey);
  const { where, values } = within(definition, range);
  // The second table may have more rows in the range than the first; one more is enough to differ.
  const [a, b] = tables.map(
    (table) =>
      `select ${list(Object.keys(definition.columns))} from ${table} ${where} order by ${key} limit ${PAGE + 1}`,
  );
  const { rows } = await db.query(
    // No column name contains $, so these names can only refer to the rows.
    `select count(*) filter (where a$ is null or b$ is null or a$ *<> b$) = 0 as equal, count(*)::int as rows
       from (${a}) a$ full join (${b}) b$ using (${key})`,
    values,
  );
  const [compared] = comparedRows.parse(rows);
  return { ...compared, after: range.after };
}

/** Returns the condition for the rows of a range, and its parameters. */
function within(
  { columns, primaryKey }: TableDefinition,
  { after, upTo }: KeyRange,
): { readonly where: string; readonly values: string[] } {
  const values: string[] = [];
  const bound = (operator: string, key: readonly string[]): string => {
    const parameters = primaryKey.map((column, place) => {
      values.push(key[place] ?? '');
      return `$${values.length}::text::${columns[column]?.type ?? 'text'}`;
    });
    return `(${list(primaryKey)}) ${operator} (${parameters.join(', ')})`;
  };
  const conditions = [...(after === null ? [] : [bound('>', after)]), ...(upTo === null ? [] : [bound('<=', upTo)])];
  return { where: conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`, values };
}
