import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type pg from 'pg';
import { createPool, type TransactionHooks } from '../../../src/platform/database/pool.js';
import type { DatabaseRole } from '../../../src/platform/database/session.js';
import { createKeyring } from '../../../src/platform/keys/index.js';
import { createTestDatabase } from '../../support/postgres.js';

export interface AdmissionDatabase {
  readonly url: string;
  /** Pool in the role of an API process. Two API processes share only the database. */
  readonly db: pg.Pool;
  readonly secondPool: pg.Pool;
  /** In the role of the worker. */
  readonly worker: pg.Pool;
  /** Superuser pool that reads tables and changes rows to simulate the passage of time. */
  readonly owner: pg.Pool;
  /** Key of the keyring that seals what `owner` creates. */
  readonly master: KeyObject;
  close(): Promise<void>;
}

export function apiPool(
  url: string,
  role: DatabaseRole = 'consent_ledger_api',
  transactions?: TransactionHooks,
): pg.Pool {
  return createPool({
    url,
    role,
    applicationName: 'test api',
    maxConnections: 4,
    statementTimeoutMs: 10_000,
    onIdleError: () => undefined,
    ...(transactions !== undefined && { transactions }),
  });
}

export async function openAdmissionDatabase(): Promise<AdmissionDatabase> {
  const database = await createTestDatabase();
  const worker = apiPool(database.url, 'consent_ledger_worker');
  const master = createSecretKey(randomBytes(32));
  const keyring = await createKeyring(worker, master);
  const pool = apiPool(database.url, 'consent_ledger_api', keyring.sealing);
  const secondPool = apiPool(database.url, 'consent_ledger_api', keyring.sealing);
  const owner = createPool({
    url: database.url,
    applicationName: 'test owner',
    maxConnections: 2,
    statementTimeoutMs: 0,
    onIdleError: () => undefined,
    transactions: keyring.sealing,
  });
  return {
    url: database.url,
    db: pool,
    secondPool,
    worker,
    owner,
    master,
    close: async () => {
      await Promise.all([pool.end(), secondPool.end(), worker.end(), owner.end()]);
      await database.drop();
    },
  };
}
