import type pg from 'pg';
import { type ComparedTables, compareTables, differenceText } from '../platform/database/compare-tables.js';
import type { Queryable } from '../platform/database/pool.js';
import type { Section } from './section.js';

/**
 * Reports the rows of a table that differ from those that the log gives.
 * @param db a handle in the transaction whose snapshot is compared, where the rows of the log are in temporary tables
 * @param name name of the table in findings
 * @param onRange called after each range with its rows
 */
export async function compareWithLog(
  { findings }: Pick<Section, 'findings'>,
  db: Queryable,
  { name, ...tables }: ComparedTables & { readonly name: string },
  onRange: (rows: number) => Promise<void>,
): Promise<void> {
  for await (const { rows, differences } of compareTables(db, tables)) {
    for (const difference of differences) {
      const { columns } = difference;
      const detail = differenceText(difference);
      findings.add({ kind: 'derived-differs', table: name, key: difference.key.join(' '), columns, detail });
    }
    await onRange(rows);
  }
}

/**
 * Runs a replay on a connection of its own, because the temporary tables end with the connection.
 */
export async function withReplay<T>(pool: pg.Pool, work: (db: pg.PoolClient) => Promise<T>): Promise<T> {
  const db = await pool.connect();
  try {
    return await work(db);
  } finally {
    // The connection is closed instead of returned, because no later statement may find the temporary tables, which
    // hide the live ones.
    db.release(true);
  }
}
