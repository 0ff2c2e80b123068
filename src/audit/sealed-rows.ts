import * as z from 'zod';
import { SEALED_TABLE_NAMES, SEALED_TABLES, type SealedTable } from '../platform/database/sealed-tables.js';
import { sealed, sealedRow } from '../platform/keys/index.js';
import { estimatedRows, PAGE, pagesOf } from './pages.js';
import type { Section } from './section.js';

const Nothing = z.object({});

/** Checks the seal of every row that has one. */
export async function auditSealedRows(section: Section): Promise<void> {
  let done = 0;
  for (const table of SEALED_TABLE_NAMES) done = await auditTable(section, table, done);
}

async function auditTable(
  { db, keyring, findings, step }: Section,
  table: SealedTable,
  before: number,
): Promise<number> {
  const { key } = SEALED_TABLES[table];
  const Rows = z.array(z.object({ key: z.string(), sealed: sealedRow(table) }));
  let done = before;
  const total = await estimatedRows(db, table);
  const read = async (after: string | null) => {
    const { rows } = await db.query(
      `select r.${key}::text as key, ${sealed(table, 'r')} as sealed from ${table} r
        ${after === null ? '' : `where r.${key} > $2`} order by r.${key} limit $1`,
      after === null ? [PAGE] : [PAGE, after],
    );
    return Rows.parse(rows);
  };
  for await (const page of pagesOf(read, (row) => row.key)) {
    for (const row of page) {
      if ((await keyring.open(row.sealed, Nothing)) !== null) continue;
      findings.add({ kind: 'row-altered', table, key: row.key, detail: 'its seal does not match the row' });
    }
    done += page.length;
    await step(done, total === null ? null : before + Math.max(total, done - before));
  }
  return done;
}
