import { createHash } from 'node:crypto';
import * as z from 'zod';
import { loadMigrations } from '../platform/database/migrations.js';
import { compareSchema } from '../platform/database/schema-differences.js';
import { SEALED_TABLE_NAMES, SEALED_TABLES, type SealedTable } from '../platform/database/sealed-tables.js';
import { sealed, sealedRow } from '../platform/keys/index.js';
import { estimatedRows, PAGE, pagesOf, type Section } from './section.js';

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

const Steps = z.array(z.object({ id: z.string(), sha256: z.string(), runs_beside: z.string().nullable() }));

/** Checks that the steps of this version were applied, and that the schema is what they create. */
export async function auditSchema(section: Section): Promise<void> {
  await auditSteps(section);
  for (const { object: table, part: key, detail } of await compareSchema(section.db))
    section.findings.add({ kind: 'protection-missing', table, key, detail });
}

async function auditSteps({ db, findings, step }: Section): Promise<void> {
  const wanted = new Map(loadMigrations().map((migration) => [migration.id, migration]));
  const steps = Steps.parse((await db.query('select id, sha256, runs_beside from schema_migrations')).rows);
  const add = (key: string, detail: string): void =>
    findings.add({ kind: 'protection-missing', table: 'schema_migrations', key, detail });
  for (const { id, sha256, runs_beside } of steps) {
    const own = wanted.get(id);
    if (own === undefined) add(id, 'this version has no such step');
    else if (createHash('sha256').update(own.sql).digest('hex') !== sha256)
      add(id, 'the step was applied with another text');
    else if (own.runsBeside !== runs_beside) add(id, 'the row states another schema that may run beside the step');
  }
  const applied = new Set(steps.map(({ id }) => id));
  for (const id of wanted.keys()) if (!applied.has(id)) add(id, 'the step is not applied');
  await step(steps.length, wanted.size);
}
