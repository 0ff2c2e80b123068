import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPool, type DatabaseRole } from '../../src/database/pool.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres.js';

let database: TestDatabase;
const pools = new Map<DatabaseRole, pg.Pool>();
beforeAll(async () => {
  database = await createTestDatabase();
  for (const role of [
    'consent_ledger_api',
    'consent_ledger_worker',
    'consent_ledger_projections',
    'consent_ledger_admin',
  ] as const) {
    const pool = createPool({
      url: database.url,
      role,
      applicationName: 'rights test',
      maxConnections: 1,
      statementTimeoutMs: 10_000,
      onIdleError: () => undefined,
    });
    pools.set(role, pool);
  }
});
afterAll(async () => {
  for (const pool of pools.values()) await pool.end();
  await database.drop();
});

const refused: readonly [DatabaseRole, string][] = [
  // Whoever answers callers may begin, renew and end sign-ins; never make users, invite, or touch a password or a role.
  ['consent_ledger_api', `update users set role = 'owner'`],
  ['consent_ledger_api', `update users set password_hash = ''`],
  ['consent_ledger_api', 'update users set disabled_at = null'],
  ['consent_ledger_api', 'update sign_ins set expires_at = now()'],
  ['consent_ledger_api', 'update sign_ins set user_id = gen_random_uuid()'],
  ['consent_ledger_api', 'delete from sign_ins'],
  ['consent_ledger_api', 'delete from used_refresh_tokens'],
  ['consent_ledger_api', 'update invitations set revoked_at = null'],
  ['consent_ledger_api', 'insert into invitations default values'],
  ['consent_ledger_api', 'insert into password_resets default values'],
  ['consent_ledger_api', 'update keyring set verifies_until = null'],
  // Whoever makes invitations and resets may not bring one back to life.
  ['consent_ledger_admin', 'update invitations set expires_at = now()'],
  ['consent_ledger_admin', 'update invitations set token_digest = token_digest'],
  ['consent_ledger_admin', 'update password_resets set expires_at = now()'],
  ['consent_ledger_admin', 'delete from sign_ins'],
  ['consent_ledger_admin', 'select from used_refresh_tokens'],
  // Whoever forgets them may not read them.
  ['consent_ledger_worker', 'select refresh_digest from sign_ins'],
  ['consent_ledger_worker', 'select email from invitations'],
  ['consent_ledger_worker', 'update sign_ins set ended_at = null'],
  ['consent_ledger_worker', 'select from used_refresh_tokens'],
  ['consent_ledger_projections', 'select from users'],
  ['consent_ledger_projections', 'select from sign_ins'],
  ['consent_ledger_projections', 'select from invitations'],
  ['consent_ledger_projections', 'select from password_resets'],
];

it.each(refused)('%s may not: %s', async (role, sql) => {
  await expect(pools.get(role)?.query(sql)).rejects.toMatchObject({ code: '42501' });
});

const granted: readonly [DatabaseRole, string][] = [
  ['consent_ledger_api', 'update users set last_sign_in_at = now()'],
  ['consent_ledger_api', 'update sign_ins set renewed_at = now()'],
  ['consent_ledger_admin', 'update invitations set revoked_at = now()'],
  ['consent_ledger_worker', 'delete from sign_ins where lapses_at < now()'],
  ['consent_ledger_worker', 'update keyring set verifies_until = now()'],
];

it.each(granted)('%s may: %s', async (role, sql) => {
  await expect(pools.get(role)?.query(sql)).resolves.toMatchObject({ rowCount: 0 });
});
