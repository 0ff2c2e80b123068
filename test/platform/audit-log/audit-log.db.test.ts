import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { appendAuditEntry } from '../../../src/platform/audit-log.js';
import { createPool } from '../../../src/platform/database/pool.js';
import type { DatabaseRole } from '../../../src/platform/database/session.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js';

let database: TestDatabase;
const pools: pg.Pool[] = [];
const open = (role?: DatabaseRole): pg.Pool => {
  const pool = createPool({
    url: database.url,
    ...(role !== undefined && { role }),
    applicationName: 'test',
    maxConnections: 1,
    statementTimeoutMs: 10_000,
    onIdleError: () => undefined,
  });
  pools.push(pool);
  return pool;
};
beforeAll(async () => {
  database = await createTestDatabase();
  await appendAuditEntry(open('consent_ledger_admin'), {
    tenantId: randomUUID(),
    actor: { kind: 'operator' },
    action: 'site.create',
    subject: { kind: 'site', id: randomUUID() },
    details: { verified: true },
  });
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await database.drop();
});

it.each(["update audit_log set action = 'a.b'", 'delete from audit_log', 'truncate audit_log'])(
  'refuses: %s',
  async (statement) => {
    await expect(open().query(statement)).rejects.toThrow('append-only');
    for (const role of ['consent_ledger_api', 'consent_ledger_admin', 'consent_ledger_worker'] as const) {
      await expect(open(role).query(statement)).rejects.toThrow(/permission denied/);
    }
    expect((await open().query('select action, details from audit_log')).rows).toEqual([
      { action: 'site.create', details: { verified: true } },
    ]);
  },
);
