import type pg from 'pg';
import * as z from 'zod';
import { withTransaction } from '../../src/platform/database/pool.js';

const Read = z.tuple([z.object({ rows: z.coerce.number() })]);

/** Since a time that the server chooses between two transactions of a connection. */
const ROWS_READ = `
  select sum(pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid)) as rows from pg_class
   where relname ~ '^(record_keys|consents|approval_tokens|erased_records|documents|document_versions)'`;

/**
 * Counts the rows and index entries that PostgreSQL reads during some work, in tables that only grow with records and
 * documents. Batches and checkpoints become more meanwhile, by themselves.
 * @param work receives a connection in a transaction, which is committed afterwards
 */
export function rowsRead(pool: pg.Pool, work: (db: pg.PoolClient) => Promise<void>): Promise<number> {
  return withTransaction(pool, async (db) => {
    const [before] = Read.parse((await db.query(ROWS_READ)).rows);
    await work(db);
    const [after] = Read.parse((await db.query(ROWS_READ)).rows);
    return after.rows - before.rows;
  });
}
