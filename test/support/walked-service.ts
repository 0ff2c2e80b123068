import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { expect } from 'vitest';
import * as z from 'zod';
import { type Service, startServe } from '../../src/app/start-service.js';
import { runCli } from '../../src/cli/run.js';
import { seedDemo } from '../../src/demo/seed/seed-demo.js';
import { loadConfig } from '../../src/platform/config/index.js';
import { cookieVersionOf } from './seeded-demo.js';
import { postSigned } from './signed-requests.js';
import { until } from './wait.js';
import { workerInProcess } from './worker-in-process.js';

const DEMO = { hasSubscription: true, isVerified: true, allowedOrigins: [], allowedIps: [], rateLimit: 1_000_000 };
const Answer = z.object({ data: z.object({ consent_token: z.string() }) });

/** An installation on a given database, whose processes run in this one. */
export class WalkedService {
  #service: Service | null = null;

  private constructor(
    readonly env: Readonly<Record<string, string>>,
    private readonly dataDir: string,
  ) {}

  static async at(databaseUrl: string): Promise<WalkedService> {
    const dataDir = await mkdtemp(join(tmpdir(), 'consent-ledger-walked-'));
    const env = {
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir,
      // An audit reads the key before it connects.
      MASTER_KEY: randomBytes(32).toString('base64'),
      PORT: '0',
      LOG_LEVEL: 'error',
      BATCH_MAX_AGE_MS: '50',
      STAMP_INTERVAL_MS: '50',
      LAME_DUCK_MS: '0',
      DRAIN_GRACE_MS: '0',
    };
    return new WalkedService(env, dataDir);
  }

  /** Starts `serve`, which migrates the database. @throws the error that the operator sees */
  async start(): Promise<Service> {
    const config = loadConfig(this.env);
    const logger = pino({ level: process.env.TEST_LOG ?? 'silent' });
    this.#service = await startServe(config, logger, workerInProcess(config, logger));
    return this.#service;
  }

  /**
   * Records a consent by a signed request, and waits until its leaf is below a time stamp and the
   * read model has it.
   */
  async walk(): Promise<void> {
    const service = this.#service;
    if (service === null) throw new Error('the service does not run');
    const { adminPool, workerPool } = service.installation;
    const demo = await seedDemo(adminPool, DEMO);
    const answer = await postSigned(service.url, demo.keys.write, '/tool/v1/consents', {
      consent_type: 'cookie',
      decision: 'accepted',
      document_version_id: cookieVersionOf(demo),
      visitor_id: 'visitor',
    });
    const body = await answer.text();
    expect(answer.status, body).toBe(202);
    const token = Answer.parse(JSON.parse(body)).data.consent_token;
    await until(async () => {
      const { rowCount } = await workerPool.query(
        'select from leaves l join checkpoints c on c.size > l.batch where l.stream like $1',
        [`%${demo.site.id}%`],
      );
      return rowCount !== null && rowCount > 0;
    });
    const headers = { 'x-api-key': demo.keys.read };
    const url = `${service.url}/tool/v1/consents/verify/${token}`;
    await until(async () => (await fetch(url, { headers })).status === 200);
  }

  /** Runs a command. */
  async command(...args: readonly string[]): Promise<{ exitCode: number; stdout: string; stderr: string }> {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const [out, err] = [text(stdout), text(stderr)];
    const exitCode = await runCli(args, { env: this.env, stdout, stderr, lowerPriority: () => undefined });
    stdout.end();
    stderr.end();
    return { exitCode, stdout: await out, stderr: await err };
  }

  async close(): Promise<void> {
    await this.#service?.stop();
    await rm(this.dataDir, { recursive: true, force: true });
  }
}
