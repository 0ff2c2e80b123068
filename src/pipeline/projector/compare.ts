import { z } from 'zod';
import type { Projection, TableDefinition } from '../../../projections/definition.js';
import type { Queryable } from '../../platform/database/pool.js';
import { identifier, list, schemaOf } from './sql.js';

const PAGE = 2_000;

/** Comparison of two generations of a table at one position of the log. */
export interface TableComparison {
  readonly table: string;
  readonly equal: boolean;
  /** Number of equal rows. */
  readonly rows: number;
  /**
   * Primary key of the last row that was found equal; the first difference follows it. Null: the
   * first page differs, or there is no difference.
   */
  readonly differsBehind: readonly string[] | null;
}

/**
 * Compares the tables of two generations page by page, by digests of their rows in the order of the
 * primary key. Both generations must remain at the same position.
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
  let after: readonly string[] | null = null;
  for (;;) {
    const [left, right]: [PageDigest, PageDigest] = await Promise.all([
      digestPage(db, table, a, after),
      digestPage(db, table, b, after),
    ]);
    if (left.digest !== right.digest || left.rows !== right.rows) return { equal: false, rows, differsBehind: after };
    rows += left.rows;
    if (left.last === null || left.rows < PAGE) return { equal: true, rows, differsBehind: null };
    after = left.last;
  }
}

const digestRows = z.array(z.object({ rows: z.int(), digest: z.string(), last: z.array(z.string()).nullable() }));
type PageDigest = z.infer<typeof digestRows>[number];

async function digestPage(
  db: Queryable,
  { columns, primaryKey }: TableDefinition,
  table: string,
  after: readonly string[] | null,
): Promise<PageDigest> {
  const key = list(primaryKey);
  const values = primaryKey.map((column, place) => `$${place + 1}::text::${columns[column]?.type ?? 'text'}`);
  const where = after === null ? '' : `where (${key}) > (${values.join(', ')})`;
  const { rows } = await db.query(
    `with page as (select ${list(Object.keys(columns))} from ${table} ${where} order by ${key} limit ${PAGE})
     select count(*)::int as rows,
            encode(sha256(convert_to(coalesce(string_agg(page::text, E'\\n' order by ${key}), ''), 'UTF8')), 'hex') as digest,
            (array_agg(array[${primaryKey.map((column) => `${identifier(column)}::text`).join(', ')}] order by ${key}))[count(*):count(*)] as last
       from page`,
    after === null ? [] : [...after],
  );
  const [row] = digestRows.parse(rows.map(flattenLast));
  if (row === undefined) throw new RangeError('an aggregate without a row');
  return row;
}

const lastShape = z.object({ last: z.array(z.array(z.string())).nullable() }).loose();

/** PostgreSQL returns a slice of an array of arrays as an array with one array. */
function flattenLast(row: unknown): unknown {
  const parsed = lastShape.parse(row);
  return { ...parsed, last: parsed.last?.[0] ?? null };
}
