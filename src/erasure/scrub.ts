import type pg from 'pg';
import * as z from 'zod';
import { pause } from '../platform/background/waiting.js';
import { type ConnectionOptions, connectClient } from '../platform/database/connection.js';
import { programName } from '../platform/database/migrations.js';
import { SECRET_COLUMNS } from '../platform/database/secret-columns.js';
import { messageOf } from '../platform/errors.js';

/**
 * Tables whose deleted or superseded rows contain key seeds, blind indexes or encrypted contents.
 */
const TABLES = [
  ...['record_keys', 'persons', 'approval_tokens', 'attachments', 'exports', 'erasure_requests'],
  ...['test_records', 'test_approval_tokens'],
] as const;
/** The planner's samples of columns. ANALYZE leaves the bytes of earlier samples in its files. */
const STATISTICS = 'pg_statistic';
const LOCK_WAIT_MS = 10_000;
/**
 * Maximum number of attempts to rewrite one table. The service may change a row while another of its transactions can
 * still see the former version, but such a transaction ends soon. Each pause is twice as long as the previous one (4.5
 * s in all).
 */
const MOST_ROUNDS = 5;
const FIRST_PAUSE_MS = 300;
/** Kept as text, because a JavaScript date would drop the microseconds. */
const StartRows = z.tuple([z.object({ began: z.string() })]);

/** Deleted rows could not be removed from the database's files. The message states the reason. */
export class ScrubFailed extends Error {
  override readonly name = 'ScrubFailed';
}

/**
 * Rewrites the tables from which erasures delete, so that the database's files no longer contain deleted data.
 * PostgreSQL keeps the bytes of deleted rows, and an ordinary VACUUM overwrites only some of them. VACUUM FULL locks
 * each table, so no consent is admitted during that time. If a changed schema has statistics of secret columns, they
 * are dropped.
 * @param ownerUrl connection URL of the owner of the tables and of the database
 * @throws ScrubFailed if a table stays in use, or an old transaction may still see deleted rows; no
 *   data is lost, and the call may be repeated
 */
export async function scrubErased(ownerUrl: string): Promise<void> {
  const connection: ConnectionOptions = {
    url: ownerUrl,
    applicationName: programName('scrub'),
    statementTimeoutMs: 0,
    lockTimeoutMs: LOCK_WAIT_MS,
  };
  const client = await connectClient(connection);
  let kept: number | null = null;
  client.on('notice', ({ detail }) => {
    const [, count] = /\b(\d+) dead row versions cannot be removed yet/.exec(detail ?? '') ?? [];
    if (count !== undefined) kept = (kept ?? 0) + Number(count);
  });
  try {
    const { rows } = await client.query('select clock_timestamp()::text as began');
    const [{ began }] = StartRows.parse(rows);
    // The count is parsed from an English message. Without the right to set the language, the
    // missing count raises the error below.
    await client.query(`set lc_messages = 'C'`).catch(() => undefined);
    await dropStatistics(client);
    for (const table of [...TABLES, STATISTICS]) {
      for (let round = 1; ; round += 1) {
        kept = null;
        await client.query(`vacuum (full, verbose) ${table}`);
        if (kept === null)
          throw new ScrubFailed(
            `The server does not report whether ${table} was rewritten completely. Run the scrub as the owner of the tables and of the database.`,
          );
        if (kept === 0) break;
        if (round === MOST_ROUNDS)
          throw new ScrubFailed(
            `${table} still contains ${kept} deleted rows for a transaction or replica that began before the deletion. Run the scrub again after it has ended.`,
          );
        await pause(FIRST_PAUSE_MS * 2 ** (round - 1));
      }
    }
    await client.query('insert into scrubs (started_at, finished_at) values ($1, clock_timestamp())', [began]);
  } catch (error) {
    if (error instanceof ScrubFailed) throw error;
    throw new ScrubFailed(
      `The scrub failed, and the database files may still contain deleted rows: ${messageOf(error)}`,
      { cause: error },
    );
  } finally {
    await client.end();
  }
}

const StatisticsRows = z.array(z.object({ table: z.string(), column: z.string(), type: z.string() }));

/**
 * Switches statistics of secret columns off again. ALTER TABLE ... TYPE with the same type drops existing statistics
 * without rewriting the table, and needs no rights on `pg_catalog`.
 */
async function dropStatistics(client: pg.Client): Promise<void> {
  const columns = Object.entries(SECRET_COLUMNS).flatMap(([table, names]) => names.map((name) => ({ table, name })));
  const { rows } = await client.query(
    `select w.name as table, w.col as column, format_type(a.atttypid, a.atttypmod) as type
       from unnest($1::text[], $2::text[]) as w (name, col)
       join pg_attribute a on a.attname = w.col and a.attrelid in (
         select w.name::regclass union all select h.inhrelid from pg_inherits h where h.inhparent = w.name::regclass)
      where a.attstattarget is distinct from 0
         or exists (select from pg_stats s join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
                     where s.schemaname = n.nspname and s.tablename = c.relname and s.attname = a.attname)
      group by 1, 2, 3`,
    [columns.map(({ table }) => table), columns.map(({ name }) => name)],
  );
  for (const { table, column, type } of StatisticsRows.parse(rows)) {
    await client.query(
      `alter table ${table} alter column ${column} set statistics 0, alter column ${column} type ${type}`,
    );
  }
}
