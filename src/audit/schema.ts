import { createHash } from 'node:crypto';
import * as z from 'zod';
import { loadMigrations } from '../platform/database/migrations.js';
import { compareSchema } from '../platform/database/schema-differences.js';
import type { Section } from './section.js';

const Steps = z.array(z.object({ id: z.string(), sha256: z.string(), runs_beside: z.string().nullable() }));

/** Checks that the steps of this version were applied, and that the schema is what they make. */
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
