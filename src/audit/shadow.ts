import type pg from 'pg';
import * as z from 'zod';
import type { Finding } from './finding.js';

/** A live table, and the temporary table into which the log was replayed. */
export interface ComparedTable {
  /** Live table, qualified; it may be a view. */
  readonly live: string;
  /** Temporary table, qualified. */
  readonly shadow: string;
  /** Name for findings. */
  readonly name: string;
  readonly key: readonly string[];
  /** All other columns to compare. */
  readonly columns: readonly string[];
}

const PAGE_ROWS = 2_000;
const Bounds = z.array(z.object({ bound: z.array(z.string()) })).max(1);
const Differences = z.array(
  z.object({ key: z.array(z.string()), is_missing: z.boolean(), is_extra: z.boolean(), columns: z.array(z.string()) }),
);

/**
 * Compares a live table with its replay, page by page in the order of the primary key.
 * @param db in the transaction whose snapshot is compared
 * @param onPage called after each page with the rows that a page has at most
 */
export async function compareWithReplay(
  db: pg.PoolClient,
  table: ComparedTable,
  report: (finding: Pick<Finding, 'kind' | 'table' | 'key' | 'columns' | 'detail'>) => void,
  onPage: (rows: number) => Promise<void>,
): Promise<void> {
  const { live, shadow, name, key, columns } = table;
  // Without statistics, each page could be joined by a pass over the whole table.
  await db.query(`analyze ${shadow}`);
  const types = await columnTypes(db, shadow);
  const keyList = (alias: string): string => key.map((column) => `${alias}."${column}"`).join(', ');
  const keyText = (alias: string): string => `array[${key.map((column) => `${alias}."${column}"::text`).join(', ')}]`;
  const bound = (parameter: number): string =>
    key.map((column, place) => `($${parameter}::text[])[${place + 1}]::${types.get(column) ?? 'text'}`).join(', ');
  let after: readonly string[] | null = null;
  for (;;) {
    const upper: readonly string[] | null =
      Bounds.parse(
        (
          await db.query(
            `select ${keyText('t')} as bound from ${live} t ${after === null ? '' : `where (${keyList('t')}) > (${bound(1)})`}
            order by ${keyList('t')} offset ${PAGE_ROWS - 1} limit 1`,
            after === null ? [] : [after],
          )
        ).rows,
      )[0]?.bound ?? null;
    const values: (readonly string[])[] = [];
    const where: string[] = [];
    if (after !== null) where.push(`(${keyList('t')}) > (${bound(values.push(after))})`);
    if (upper !== null) where.push(`(${keyList('t')}) <= (${bound(values.push(upper))})`);
    const part = (source: string): string =>
      `(select * from ${source} t ${where.length === 0 ? '' : `where ${where.join(' and ')}`})`;
    const differs = columns.map(
      (column) => `case when l."${column}" is distinct from s."${column}" then '${column}' end`,
    );
    const first = key[0] ?? '';
    const { rows } = await db.query(
      `select * from (
         select case when l."${first}" is null then ${keyText('s')} else ${keyText('l')} end as key,
                l."${first}" is null as is_missing, s."${first}" is null as is_extra,
                array_remove(array[${differs.join(', ')}]::text[], null) as columns
           from ${part(live)} l full join ${part(shadow)} s on (${keyList('l')}) = (${keyList('s')})) d
        where is_missing or is_extra or cardinality(columns) > 0 order by key`,
      values,
    );
    for (const row of Differences.parse(rows)) {
      report({ kind: 'derived-differs', table: name, key: row.key.join(' '), ...differenceOf(row) });
    }
    await onPage(PAGE_ROWS);
    if (upper === null) return;
    after = upper;
  }
}

function differenceOf(row: z.infer<typeof Differences>[number]): Pick<Finding, 'columns' | 'detail'> {
  if (row.is_missing) return { columns: [], detail: 'the row that the log gives is missing' };
  if (row.is_extra) return { columns: [], detail: 'the log gives no such row' };
  return { columns: row.columns, detail: `the log gives other values of ${row.columns.join(', ')}` };
}

const Types = z.array(z.object({ name: z.string(), type: z.string() }));

async function columnTypes(db: pg.PoolClient, table: string): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.query(
    `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
      where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
    [table],
  );
  return new Map(Types.parse(rows).map(({ name, type }) => [name, type]));
}

/**
 * Runs a replay on a connection of its own: its temporary tables go with the connection.
 */
export async function withReplay<T>(pool: pg.Pool, work: (db: pg.PoolClient) => Promise<T>): Promise<T> {
  const db = await pool.connect();
  try {
    return await work(db);
  } finally {
    // Closed, not returned: no later statement may find the temporary tables, which hide the live ones.
    db.release(true);
  }
}
