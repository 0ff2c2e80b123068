import type pg from 'pg';

/**
 * Counts locks in a database. The tests share a server, and its databases are copies of one template, so
 * that a table has the same number in all of them.
 * @param db connected to the database
 * @param condition SQL on the columns of `pg_locks`
 */
export async function countLocks(db: pg.ClientBase | pg.Pool, condition: string): Promise<number> {
  const { rowCount } = await db.query(
    `select from pg_locks where database = (select oid from pg_database where datname = current_database())
        and ${condition}`,
  );
  return rowCount ?? 0;
}
