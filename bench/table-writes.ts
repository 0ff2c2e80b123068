import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import * as z from 'zod';

/** PostgreSQL's processes publish their counters once they have been idle for ten seconds. */
const PUBLISHED_MS = 11_000;

/** Writes to one table so far, and its size. */
interface TableWrites {
  readonly inserted: number;
  readonly updated: number;
  /** Updates that left the page or changed a column of an index. */
  readonly moved: number;
  readonly deleted: number;
  readonly bytes: number;
  /** Indexes of every row. */
  readonly indexes: number;
  /** Entries in partial indexes, which some rows have. */
  readonly partialEntries: number;
}

/** By `schema.table`; the partitions of a table count as one. */
export type Writes = ReadonlyMap<string, TableWrites>;

const Rows = z.array(
  z.object({
    name: z.string(),
    inserted: z.coerce.number(),
    updated: z.coerce.number(),
    moved: z.coerce.number(),
    deleted: z.coerce.number(),
    bytes: z.coerce.number(),
    indexes: z.coerce.number(),
    conditions: z.array(z.string()),
  }),
);
const CountRow = z.tuple([z.object({ count: z.coerce.number() })]);

/**
 * Reads the writes to all tables of the schema, after a wait in which every process of PostgreSQL has
 * published its counters. The service must be idle.
 */
export async function readWrites(db: pg.Pool): Promise<Writes> {
  await sleep(PUBLISHED_MS);
  const { rows } = await db.query(
    `with written as (
       select coalesce(i.inhparent, s.relid) as relid, sum(n_tup_ins) as inserted, sum(n_tup_upd) as updated,
              sum(n_tup_upd - n_tup_hot_upd) as moved, sum(n_tup_del) as deleted,
              sum(pg_total_relation_size(s.relid)) as bytes
         from pg_stat_user_tables s left join pg_inherits i on i.inhrelid = s.relid
        group by 1
     )
     select quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name, w.inserted, w.updated, w.moved, w.deleted, w.bytes,
            (select count(*) from pg_index x where x.indrelid = w.relid and x.indpred is null) as indexes,
            array(select pg_get_expr(x.indpred, x.indrelid) from pg_index x
                   where x.indrelid = w.relid and x.indpred is not null) as conditions
       from written w join pg_class c on c.oid = w.relid join pg_namespace n on n.oid = c.relnamespace`,
  );
  const writes = new Map<string, TableWrites>();
  for (const { name, conditions, ...table } of Rows.parse(rows)) {
    let partialEntries = 0;
    for (const condition of conditions) {
      const matching = await db.query(`select count(*) from ${name} where ${condition}`);
      partialEntries += CountRow.parse(matching.rows)[0].count;
    }
    writes.set(name, { ...table, partialEntries });
  }
  return writes;
}

/** Describes the writes of one consent, on average. @param consents recorded between the two readings */
export function describeWrites(before: Writes, after: Writes, consents: number): string {
  const tables = [...after].map(([name, now]) => {
    const past = before.get(name);
    const each = (pick: (writes: TableWrites) => number): number =>
      (pick(now) - (past === undefined ? 0 : pick(past))) / consents;
    const inserted = each((writes) => writes.inserted);
    const partial = inserted === 0 ? 0 : each(({ partialEntries }) => partialEntries) / inserted;
    return {
      name,
      inserted,
      updated: each(({ updated }) => updated),
      deleted: each(({ deleted }) => deleted),
      indexEntries: (inserted + each(({ moved }) => moved)) * (now.indexes + partial),
      bytes: each(({ bytes }) => bytes),
    };
  });
  const sum = (name: 'inserted' | 'updated' | 'deleted' | 'indexEntries' | 'bytes', digits: number): string =>
    tables.reduce((total, table) => total + table[name], 0).toFixed(digits);
  const largest = tables.filter(({ bytes }) => bytes >= 1).sort((a, b) => b.bytes - a.bytes);
  return (
    `rows of each consent: ${sum('inserted', 1)} inserted, ${sum('updated', 1)} updated, ${sum('deleted', 1)} deleted; ` +
    `${sum('indexEntries', 1)} index entries; ${sum('bytes', 0)} bytes in tables ` +
    `(${largest.map(({ name, bytes }) => `${name} ${bytes.toFixed(0)}`).join(', ')})`
  );
}
