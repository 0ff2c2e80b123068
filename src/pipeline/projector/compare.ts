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
 * Compares the tables of two generations page by page, in the order of the primary key. Both
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
  let after: readonly string[] | null = null;
  for (;;) {
    const page: ComparedPage = await comparePage(db, table, [a, b], after);
    if (!page.equal) return { equal: false, rows, differsBehind: after };
    rows += page.rows;
    if (page.last === null || page.rows < PAGE) return { equal: true, rows, differsBehind: null };
    after = page.last;
  }
}

const comparedRows = z.tuple([z.object({ equal: z.boolean(), rows: z.int(), last: z.array(z.string()).nullable() })]);
type ComparedPage = z.infer<typeof comparedRows>[0];

/**
 * Compares the next rows of both tables, byte by byte as PostgreSQL stores them (`*<>`).
 * @returns whether all are equal; number and last primary key of the rows of the first table
 */
async function comparePage(
  db: Queryable,
  { columns, primaryKey }: TableDefinition,
  tables: readonly [string, string],
  after: readonly string[] | null,
): Promise<ComparedPage> {
  const key = list(primaryKey);
  const values = primaryKey.map((column, place) => `$${place + 1}::text::${columns[column]?.type ?? 'text'}`);
  const where = after === null ? '' : `where (${key}) > (${values.join(', ')})`;
  const [a, b] = tables.map(
    (table) => `select ${list(Object.keys(columns))} from ${table} ${where} order by ${key} limit ${PAGE}`,
  );
  const last = primaryKey.map((column) => `${identifier(column)}::text`).join(', ');
  const { rows } = await db.query(
    // No column has a name with $, so that these names mean the rows.
    `with a$ as materialized (${a}), b$ as materialized (${b})
     select not exists (select from a$ full join b$ using (${key}) where a$ is null or b$ is null or a$ *<> b$) as equal,
            (select count(*)::int from a$) as rows,
            (select array[${last}] from a$ order by ${primaryKey.map((column) => `${identifier(column)} desc`).join(', ')} limit 1) as last`,
    after === null ? [] : [...after],
  );
  const [page] = comparedRows.parse(rows);
  return page;
}
