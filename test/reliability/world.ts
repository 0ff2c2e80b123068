import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type pg from 'pg';
import { pino } from 'pino';
import * as z from 'zod';
import { levelOf } from '../../schemas/evidence/roll-ups.js';
import { type OpenAudit, openAudit } from '../../src/app/open-audit.js';
import { type Service, startApi, startWorkerService } from '../../src/app/start-service.js';
import { runCli } from '../../src/cli/run.js';
import { seedDemo } from '../../src/demo/seed/seed-demo.js';
import { catchUpLedger } from '../../src/pipeline/ledger/apply-ledger.js';
import { sealBatch } from '../../src/pipeline/sealer/seal.js';
import { loadConfig } from '../../src/platform/config/index.js';
import { createPool, withTransaction } from '../../src/platform/database/pool.js';
import { type DevelopmentTsa, startDevelopmentTsa } from '../../src/timestamping/development-tsa/start.js';
import { RecordingTenant } from '../api/panel/recording-tenant.js';
import type { RunningApp } from '../api/server/running-app.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres.js';
import { postSigned } from '../support/signed-requests.js';
import { AuthorityFront } from './authority-front.js';
import type { Fault } from './faults.js';
import type { Write } from './postgres-frames.js';
import { PostgresFront } from './postgres-front.js';

const DEMO = { hasSubscription: true, isVerified: true, allowedOrigins: [], allowedIps: [], rateLimit: 1_000_000 };

const Answer = z.object({
  data: z.object({ consent_token: z.string(), promise: z.object({ text: z.string() }).nullable() }),
});

/** A consent that was answered with 202. */
export interface Recorded {
  readonly token: string;
  readonly promise: string;
}

/** How a test reaches what it asked for. */
export interface Asked {
  /** How often the caller, or the operator, had to ask. */
  readonly attempts: number;
}

export type Role = 'api' | 'worker';

/** A role of the service in this process, whose connections to the database a test holds. */
interface FrontedRole {
  readonly front: PostgresFront;
  readonly service: Service;
}

interface ArmedCommand {
  readonly fault: Fault;
  readonly isMeant: (write: Write) => boolean;
  readonly strike: () => void;
}

/** An installation of one `api` and one `worker`, each with its own way to PostgreSQL and to one authority. */
export class World {
  /** Consents that were answered with 202. */
  readonly recorded: Recorded[] = [];
  readonly #gone: Promise<unknown>[] = [];
  readonly #roles = new Map<Role, FrontedRole>();
  #command: ArmedCommand | null = null;
  #shop: RecordingTenant | null = null;

  private constructor(
    readonly database: TestDatabase,
    readonly dataDir: string,
    private readonly tsa: DevelopmentTsa,
    readonly authority: AuthorityFront,
    readonly superuser: pg.Pool,
    private readonly settings: Readonly<Record<string, string>>,
  ) {}

  static async open(settings: Readonly<Record<string, string>> = {}): Promise<World> {
    const database = await createTestDatabase();
    const dataDir = await mkdtemp(join(tmpdir(), 'consent-ledger-world-'));
    const tsa = await startDevelopmentTsa({ folder: join(dataDir, 'tsa') });
    const superuser = createPool({
      url: database.url,
      applicationName: 'test superuser',
      maxConnections: 2,
      statementTimeoutMs: 30_000,
      onIdleError: () => undefined,
    });
    const world = new World(database, dataDir, tsa, await AuthorityFront.start(tsa.url), superuser, settings);
    await world.start('worker');
    await world.start('api');
    world.#shop = await RecordingTenant.of(world.#app());
    return world;
  }

  /** A tenant with a site and users. */
  get shop(): RecordingTenant {
    if (this.#shop === null) throw new Error('the world has no tenant yet');
    return this.#shop;
  }

  /** The parts that tests of a single service use, with the address of the `api` that runs at the time. */
  #app(): RunningApp {
    const api = (): Service => this.of('api').service;
    return {
      get url() {
        return api().url;
      },
      get service() {
        return api();
      },
      superuser: this.superuser,
      change: async (sql, values) => {
        await withTransaction(this.superuser, async (db) => {
          await db.query(sql, [...values]);
          await api().installation.keyring.sealing.beforeCommit(db);
        });
      },
      log: () => '',
      seed: (options = {}) => seedDemo(api().installation.adminPool, { ...DEMO, ...options }),
      stop: () => this.close(),
    };
  }

  of(role: Role): FrontedRole {
    const found = this.#roles.get(role);
    if (found === undefined) throw new Error(`no ${role} runs`);
    return found;
  }

  /** Configuration of a process that reaches PostgreSQL by this URL. */
  environment(databaseUrl = this.database.url): Record<string, string> {
    return {
      DATABASE_URL: databaseUrl,
      DATA_DIR: this.dataDir,
      PORT: '0',
      LOG_LEVEL: 'error',
      BATCH_MAX_AGE_MS: '50',
      STAMP_INTERVAL_MS: '50',
      LAME_DUCK_MS: '0',
      DRAIN_GRACE_MS: '0',
      ERASURE_ANNOUNCE_INTERVAL_SECONDS: '1',
      // One that fails is left alone for a while, and the next one is asked at once.
      TSA_URLS: `${this.authority.url},${this.authority.url}reserve`,
      TSA_CA_FILE: this.tsa.rootCertificatePemPath,
      ...this.settings,
    };
  }

  async start(role: Role): Promise<void> {
    this.#roles.set(role, await this.#open(role));
  }

  /** Starts another process of a role beside the one that runs. */
  async startBeside(role: Role): Promise<{ stop(): Promise<void> }> {
    const { front, service } = await this.#open(role);
    return {
      stop: async () => {
        await service.stop();
        await front.close();
      },
    };
  }

  async #open(role: Role): Promise<FrontedRole> {
    const { front, url } = await PostgresFront.start(this.database.url);
    const config = loadConfig(this.environment(url));
    const logger = pino({ level: process.env.TEST_LOG ?? 'silent' });
    const service = await (role === 'api' ? startApi : startWorkerService)(config, logger);
    service.failed.catch(() => undefined);
    return { front, service };
  }

  /** Lets go of a role that reaches the database no more, and starts another. */
  async replace(role: Role): Promise<void> {
    const { front, service } = this.of(role);
    front.die();
    this.#gone.push(service.stop().finally(() => front.close()));
    await this.start(role);
  }

  /** Arms a fault for the next command. Resolves when it has hit. */
  armCommand(fault: Fault, isMeant: (write: Write) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#command = { fault, isMeant, strike: resolve };
    });
  }

  /** Runs a command as an operator does: again, until it succeeds. Each run is a process of its own. */
  async command(...args: readonly string[]): Promise<Asked> {
    for (let attempts = 1; ; attempts += 1) {
      if ((await this.tryCommand(...args)) === 0) return { attempts };
    }
  }

  /** Runs a command once. @returns its exit code */
  async tryCommand(...args: readonly string[]): Promise<number> {
    const { front, url } = await PostgresFront.start(this.database.url);
    if (this.#command !== null) {
      const { fault, isMeant, strike } = this.#command;
      this.#command = null;
      void front.arm(fault, isMeant).then(strike);
    }
    const sink = {
      stdout: new PassThrough().resume(),
      stderr: new PassThrough().resume(),
      lowerPriority: () => undefined,
    };
    try {
      return await runCli([...args, '--json'], { env: this.environment(url), ...sink });
    } finally {
      await front.close();
    }
  }

  /** Records a consent as a backend does: again, with the same key, until it is answered with 202. */
  async record(visitor = `visitor-${randomUUID()}`): Promise<Asked> {
    const { backend } = this.shop;
    const consent = {
      consent_type: 'cookie',
      decision: 'accepted',
      document_version_id: backend.version('cookie_policy'),
      idempotency_key: randomUUID(),
      visitor_id: visitor,
    };
    return this.ask(async () => {
      const { url } = this.of('api').service;
      const answer = await postSigned(url, backend.demo.keys.write, '/tool/v1/consents', consent);
      const text = await answer.text();
      if (answer.status !== 202) return false;
      const { consent_token: token, promise } = Answer.parse(JSON.parse(text)).data;
      this.recorded.push({ token, promise: promise?.text ?? '' });
      return true;
    });
  }

  /** Sends a request again until it is answered as wanted. */
  async ask(send: () => Promise<boolean>): Promise<Asked> {
    for (let attempts = 1; ; attempts += 1) {
      if (await send().catch(() => false)) return { attempts };
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Seals empty batches until the next leaf of the ledger is a roll-up. */
  async growLedgerToRollUp(): Promise<void> {
    const { workerPool, eventLog } = this.of('worker').service.installation;
    const empty = { leaves: [], logPosition: null };
    let state = await catchUpLedger(workerPool, eventLog);
    do {
      ({ state } = await sealBatch(workerPool, eventLog, state, empty, new Date()));
    } while (levelOf(state.size) === 0);
  }

  /** An auditor on the database itself. */
  openAudit(): Promise<OpenAudit> {
    return openAudit(loadConfig(this.environment()), pino({ level: 'silent' }));
  }

  async close(): Promise<void> {
    for (const { service, front } of [...this.#roles.values()].reverse()) {
      await service.stop();
      await front.close();
    }
    await Promise.all(this.#gone);
    await this.superuser.end();
    await this.authority.close();
    await this.tsa.stop();
    await this.database.drop();
    await rm(this.dataDir, { recursive: true, force: true });
  }
}
