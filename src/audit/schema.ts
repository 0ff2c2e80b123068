import { createHash } from 'node:crypto';
import { z } from 'zod';
import { loadMigrations } from '../platform/database/load-migrations.js';
import { SEAL_TRIGGER, SEALED_TABLE_NAMES } from '../platform/database/sealed-tables.js';
import type { Section } from './section.js';

const Steps = z.array(z.object({ id: z.string(), sha256: z.string() }));
const Triggers = z.array(z.object({ name: z.string(), enabled: z.string() }));

/** Checks that the schema is the one of this version, and that its triggers are enabled. */
export async function auditSchema({ db, findings, step }: Section): Promise<void> {
  const wanted = new Map(loadMigrations().map(({ id, sql }) => [id, createHash('sha256').update(sql).digest('hex')]));
  const steps = Steps.parse((await db.query('select id, sha256 from schema_migrations')).rows);
  for (const { id, sha256 } of steps) {
    if (wanted.get(id) === sha256) continue;
    const detail = wanted.has(id) ? 'the step was applied with another text' : 'this version has no such step';
    findings.add({ kind: 'protection-missing', table: 'schema_migrations', key: id, detail });
  }
  const applied = new Set(steps.map(({ id }) => id));
  for (const id of wanted.keys()) {
    if (!applied.has(id))
      findings.add({
        kind: 'protection-missing',
        table: 'schema_migrations',
        key: id,
        detail: 'the step is not applied',
      });
  }
  const expected = new Set([
    ...loadMigrations().flatMap(({ sql }) => triggersOf(sql)),
    ...SEALED_TABLE_NAMES.map((table) => `${SEAL_TRIGGER} on ${table}`),
  ]);
  const { rows } = await db.query(
    `select t.tgname || ' on ' || case when n.nspname = 'event_log' then 'event_log.' else '' end || c.relname as name, t.tgenabled as enabled
       from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
      where not t.tgisinternal`,
  );
  const active = new Set(
    Triggers.parse(rows).flatMap(({ name, enabled }) => (enabled === 'O' || enabled === 'A' ? [name] : [])),
  );
  for (const name of expected) {
    const table = name.split(' on ')[1] ?? '';
    if (!active.has(name))
      findings.add({ kind: 'protection-missing', table, key: name, detail: 'the trigger is missing or disabled' });
  }
  await step(steps.length, wanted.size);
}

/** Names of the triggers that a step creates, as `name on table`. */
function triggersOf(sql: string): string[] {
  return [...sql.matchAll(/^create trigger (\w+)[^;]*?\son ([\w.]+)/gm)].map(
    ([, name = '', table = '']) => `${name} on ${table}`,
  );
}
