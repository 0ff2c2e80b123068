import pg from 'pg';
import { migrate } from '../../src/database/migrate.js';
import { rolesSql } from '../../src/database/migrations/001-roles.sql.js';
import { tenantsAndCatalogueSql } from '../../src/database/migrations/002-tenants-and-catalogue.sql.js';
import { admissionSql } from '../../src/database/migrations/003-admission.sql.js';
import { admissionFunctionsSql } from '../../src/database/migrations/004-admission-functions.sql.js';
import { createPool } from '../../src/database/pool.js';
import { createTestDatabase } from '../support/postgres.js';

export interface AdmissionDatabase {
  readonly url: string;
  /** Two pools in the role of API processes: nothing is shared between them but the database. */
  readonly pool: pg.Pool;
  readonly secondPool: pg.Pool;
  /** May do everything: looks at tables, and moves clocks by changing rows. */
  readonly owner: pg.Pool;
  close(): Promise<void>;
}

export function apiPool(url: string): pg.Pool {
  return createPool({
    url,
    role: 'consent_ledger_api',
    applicationName: 'test api',
    maxConnections: 4,
    statementTimeoutMs: 10_000,
    onIdleError: () => undefined,
  });
}

export async function openAdmissionDatabase(): Promise<AdmissionDatabase> {
  const database = await createTestDatabase({ migrated: false });
  const owner = new pg.Pool({ connectionString: database.url, max: 2 });
  owner.on('error', () => undefined);
  await migrate(owner, [
    { id: '001', sql: rolesSql },
    { id: '002', sql: tenantsAndCatalogueSql },
    { id: '003', sql: admissionSql },
    { id: '004', sql: admissionFunctionsSql },
  ]);
  const pool = apiPool(database.url);
  const secondPool = apiPool(database.url);
  return {
    url: database.url,
    pool,
    secondPool,
    owner,
    close: async () => {
      await Promise.all([pool.end(), secondPool.end(), owner.end()]);
      await database.drop();
    },
  };
}
