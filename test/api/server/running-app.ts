import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { type Logger, pino } from 'pino';
import { type Service, startApi, startServe, startWorkerService } from '../../../src/app/start-service.js';
import { type SeededDemo, type SeedOptions, seedDemo } from '../../../src/demo/seed/seed-demo.js';
import { type Config, loadConfig } from '../../../src/platform/config/index.js';
import { createPool, withTransaction } from '../../../src/platform/database/pool.js';
import { createTestDatabase } from '../../support/postgres.js';
import { workerInProcess } from '../../support/worker-in-process.js';

/**
 * The real service in this process, on a database of its own; and the superuser's hands, to break
 * things with.
 */
export interface RunningApp {
  readonly url: string;
  readonly service: Service;
  readonly superuser: pg.Pool;
  /** Makes a change that the service seals, as if it were its own. */
  change(sql: string, values: readonly unknown[]): Promise<void>;
  /** Everything logged so far. */
  readonly log: () => string;
  seed(options?: Partial<SeedOptions>): Promise<SeededDemo>;
  stop(): Promise<void>;
}

export type Role = 'serve' | 'api' | 'worker';

/** Starts a role in this process; `serve` with its worker. */
export function startRole(role: Role, config: Config, logger: Logger): Promise<Service> {
  if (role === 'serve') return startServe(config, logger, workerInProcess(config, logger));
  return role === 'api' ? startApi(config, logger) : startWorkerService(config, logger);
}

export async function startApp(role: Role, env: Readonly<Record<string, string>> = {}): Promise<RunningApp> {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'consent-ledger-http-'));
  const lines: string[] = [];
  const config = loadConfig({
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    PORT: '0',
    BATCH_MAX_AGE_MS: '100',
    STAMP_INTERVAL_MS: '100',
    LAME_DUCK_MS: '0',
    ERASURE_ANNOUNCE_INTERVAL_SECONDS: '1',
    // Fewer than the background parts that hold a connection: these must come on top.
    DATABASE_POOL_SIZE: '4',
    ...env,
  });
  const service = await startRole(
    role,
    config,
    pino({ level: config.logLevel }, { write: (line) => lines.push(line) }),
  );
  const superuser = createPool({
    url: database.url,
    applicationName: 'test superuser',
    maxConnections: 2,
    statementTimeoutMs: 30_000,
    onIdleError: () => undefined,
  });
  return {
    url: service.url,
    service,
    superuser,
    change: async (sql, values) => {
      await withTransaction(superuser, async (db) => {
        await db.query(sql, [...values]);
        await service.installation.keyring.sealing.beforeCommit(db);
      });
    },
    log: () => lines.join(''),
    seed: (options) => seedIn(service, options),
    stop: async () => {
      await service.stop();
      await superuser.end();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Makes a tenant by a service, as `RunningApp.seed` does. */
export function seedIn({ installation }: Service, options: Partial<SeedOptions> = {}): Promise<SeededDemo> {
  return seedDemo(installation.adminPool, {
    hasSubscription: true,
    isVerified: true,
    allowedOrigins: [],
    allowedIps: [],
    rateLimit: 100_000,
    ...options,
  });
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** A request, and its JSON answer. */
export async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  const body: unknown = text === '' ? null : JSON.parse(text);
  return { status: response.status, headers: response.headers, body };
}

/** A GET with an API key. */
export function get(app: RunningApp, path: string, key: string, headers: Record<string, string> = {}): Promise<Answer> {
  return ask(app.url + path, { headers: { 'x-api-key': key, ...headers } });
}
