import type pg from 'pg';
import * as z from 'zod';

/** What a database has written to its log so far. */
export interface LogWrites {
  /** Bytes of the write-ahead log. */
  readonly wal: number;
  /** How often a process waited for the write-ahead log to reach the disk. */
  readonly flushes: number;
}

const Settings = z.array(z.object({ name: z.string(), setting: z.string() }));

/** Describes the settings that define the durability of a commit. */
export async function describeDurability(db: Pick<pg.Pool | pg.Client, 'query'>): Promise<string> {
  const { rows } = await db.query(
    `select name, setting from pg_settings
      where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'wal_sync_method', 'server_version') order by name`,
  );
  return Settings.parse(rows)
    .map(({ name, setting }) => `${name} = ${setting}`)
    .join(', ');
}

const WalRow = z.tuple([z.object({ wal: z.coerce.number(), flushes: z.coerce.number() })]);

export async function readLogWrites(db: pg.Pool): Promise<LogWrites> {
  // Statistics of other sessions arrive late; they are read after a pause in which all are written.
  await db.query('select pg_sleep(1.5), pg_stat_force_next_flush()');
  const { rows } = await db.query(
    `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal,
            (select coalesce(sum(fsyncs), 0) from pg_stat_io where object = 'wal') as flushes`,
  );
  return WalRow.parse(rows)[0];
}

/** Describes what each consent added. @param consents recorded between the two readings */
export function describeLogWrites(before: LogWrites, after: LogWrites, consents: number): string {
  return (
    `write-ahead log of each consent: ${((after.wal - before.wal) / consents).toFixed(0)} bytes, ` +
    `${((after.flushes - before.flushes) / consents).toFixed(3)} flushes`
  );
}
