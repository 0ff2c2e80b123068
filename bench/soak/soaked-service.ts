import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import {
  type EmbeddedPostgres,
  openEmbeddedPostgres,
  removeEmbeddedPostgres,
} from '../../src/platform/database/embedded/index.js';
import { type DevelopmentTsa, startDevelopmentTsa } from '../../src/timestamping/development-tsa/start.js';
import { PostgresFront } from '../../test/reliability/postgres-front.js';
import { FaultyProxy } from '../../test/support/faulty-proxy.js';
import { processesOf } from '../processor-time.js';

const LEDGER = fileURLToPath(new URL('../bin/consent-ledger.js', import.meta.url));
const SHIFTED_CLOCK = new URL('../bench/soak/shifted-clock.mjs', import.meta.url).href;

/**
 * `consent-ledger serve` in a folder of its own. It reaches PostgreSQL through a front, and its callers
 * reach it through a proxy, so that answers can be lost on both ways.
 */
export class SoakedService {
  #child: ChildProcess | null = null;
  #callers: FaultyProxy | null = null;
  /** Warnings of Node.js about listeners, on standard error of any process so far. */
  listenerWarnings = 0;
  /** Processes of `serve` that ended without being told to. */
  unexpectedEnds = 0;

  private constructor(
    readonly dataDir: string,
    private readonly postgres: EmbeddedPostgres,
    /** Every connection of the processes to PostgreSQL. */
    readonly front: PostgresFront,
    private readonly frontUrl: string,
    /** An authority with a clock of its own. */
    private readonly tsa: DevelopmentTsa,
  ) {
    // One listener for all starts; the command must leave no process running.
    process.once('exit', () => this.#child?.kill('SIGKILL'));
  }

  static async make(): Promise<SoakedService> {
    const dataDir = await mkdtemp(join(tmpdir(), 'consent-ledger-soak-'));
    const postgres = await openEmbeddedPostgres({ dataDir, log: () => undefined });
    const { front, url } = await PostgresFront.start(postgres.superuserUrl);
    const tsa = await startDevelopmentTsa({ folder: join(dataDir, 'tsa') });
    return new SoakedService(dataDir, postgres, front, url, tsa);
  }

  /** The proxy through which callers reach the service. */
  get callers(): FaultyProxy {
    if (this.#callers === null) throw new Error('the service was not started');
    return this.#callers;
  }

  get url(): string {
    return `http://127.0.0.1:${this.callers.port}`;
  }

  /** Sets how far the clocks of all processes are ahead. */
  async shiftClock(milliseconds: number): Promise<void> {
    await writeFile(this.#clockFile, String(milliseconds));
  }

  get #clockFile(): string {
    return join(this.dataDir, 'clock');
  }

  /** The process that answers callers; null while there is none. */
  async apiPid(): Promise<number | null> {
    return (await processesOf(this.#child?.pid ?? 0, 'first-api-process'))[0] ?? null;
  }

  async workerPid(): Promise<number | null> {
    return (await processesOf(this.#child?.pid ?? 0, 'worker-process'))[0] ?? null;
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [LEDGER, 'serve'], {
      env: this.#environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    child.once('exit', () => {
      if (this.#child === child) this.unexpectedEnds += 1;
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (chunk.includes('MaxListenersExceededWarning')) this.listenerWarnings += 1;
      if (chunk.includes('the API process ended unexpectedly')) this.unexpectedEnds += 1;
    });
    for await (const line of createInterface({ input: child.stdout })) {
      const [, url] = /(http:\/\/[\d.]+:\d+)/.exec(line) ?? [];
      if (url === undefined) continue;
      child.stdout.resume();
      const { hostname: host, port } = new URL(url);
      const target = { host, port: Number(port) };
      if (this.#callers === null) this.#callers = await FaultyProxy.start(target);
      else this.#callers.moveTo(target);
      return;
    }
    throw new Error('serve ended before it listened');
  }

  /** Ends the process. @returns its exit code; null: it was killed */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const child = this.#child;
    if (child === null) return null;
    this.#child = null;
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await ended;
    }
    return child.exitCode;
  }

  /** Runs a command beside the service. */
  async run(...args: readonly string[]): Promise<{ readonly exitCode: number | null; readonly stdout: string }> {
    const child = spawn(process.execPath, [LEDGER, ...args, '--json'], {
      env: this.#environment(),
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [stdout] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    return { exitCode: child.exitCode, stdout };
  }

  /** Connection string of the superuser, which leads past the front. */
  get databaseUrl(): string {
    return this.postgres.superuserUrl;
  }

  async remove(): Promise<void> {
    await this.#callers?.close();
    await this.front.close();
    await this.tsa.stop();
    await this.postgres.release();
    await removeEmbeddedPostgres(this.dataDir);
    await rm(this.dataDir, { recursive: true, force: true });
  }

  #environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env.PATH,
      NODE_OPTIONS: `--import=${SHIFTED_CLOCK}`,
      SHIFTED_CLOCK_FILE: this.#clockFile,
      TSA_URLS: this.tsa.url,
      TSA_CA_FILE: this.tsa.rootCertificatePemPath,
      DATABASE_URL: this.frontUrl,
      DATA_DIR: this.dataDir,
      PORT: '0',
      LOG_LEVEL: 'error',
      LAME_DUCK_MS: '0',
      BATCH_MAX_AGE_MS: '2000',
      STAMP_INTERVAL_MS: '10000',
      ERASURE_ANNOUNCE_INTERVAL_SECONDS: '30',
    };
  }
}
