import type pg from 'pg';
import { z } from 'zod';

/** Sizes of a database and the writes that it has made so far. */
export interface Storage {
  /** Bytes of each table with its indexes and large values, by `schema.table`. */
  readonly tables: ReadonlyMap<string, number>;
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

const TableRows = z.array(z.object({ name: z.string(), bytes: z.coerce.number() }));
const WalRow = z.tuple([z.object({ wal: z.coerce.number(), flushes: z.coerce.number() })]);

export async function readStorage(db: pg.Pool): Promise<Storage> {
  // Statistics of other sessions arrive late; they are read after a pause in which all are written.
  await db.query('select pg_sleep(1.5), pg_stat_force_next_flush()');
  const tables = await db.query(
    `select n.nspname || '.' || c.relname as name, pg_total_relation_size(c.oid) as bytes
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')`,
  );
  const { rows } = await db.query(
    `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal,
            (select coalesce(sum(fsyncs), 0) from pg_stat_io where object = 'wal') as flushes`,
  );
  return {
    tables: new Map(TableRows.parse(tables.rows).map(({ name, bytes }) => [name, bytes])),
    ...WalRow.parse(rows)[0],
  };
}

/** Describes what each consent added. @param consents recorded between the two readings */
export function describeStorage(before: Storage, after: Storage, consents: number): string {
  const grown = [...after.tables]
    .map(([name, bytes]): [string, number] => [name, (bytes - (before.tables.get(name) ?? 0)) / consents])
    .filter(([, bytes]) => bytes >= 1)
    .sort(([, a], [, b]) => b - a);
  const sum = grown.reduce((total, [, bytes]) => total + bytes, 0);
  return (
    `bytes of each consent: ${sum.toFixed(0)} in tables (${grown.map(([name, bytes]) => `${name} ${bytes.toFixed(0)}`).join(', ')}), ` +
    `${((after.wal - before.wal) / consents).toFixed(0)} in the write-ahead log; ` +
    `${((after.flushes - before.flushes) / consents).toFixed(3)} flushes`
  );
}
