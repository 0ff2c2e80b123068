import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { removeEmbeddedPostgres } from '../../src/platform/database/embedded/index.js';
import { embeddedDatabaseUrl } from '../../test/support/embedded-database.js';
import { childPids } from '../processor-time.js';

const LEDGER = fileURLToPath(new URL('../bin/consent-ledger.js', import.meta.url));

/** `consent-ledger serve` as `npm start` runs it: with the embedded PostgreSQL, in a folder of its own. */
export class SoakedService {
  #child: ChildProcess | null = null;
  #url = '';
  /** Warnings of Node.js about listeners, on standard error of any process so far. */
  listenerWarnings = 0;
  /** Processes of `serve` that ended without being told to. */
  unexpectedEnds = 0;

  private constructor(readonly dataDir: string) {
    // One listener for all starts; the command must leave no process running.
    process.once('exit', () => this.#child?.kill('SIGKILL'));
  }

  static async make(): Promise<SoakedService> {
    return new SoakedService(await mkdtemp(join(tmpdir(), 'consent-ledger-soak-')));
  }

  get url(): string {
    return this.#url;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  async workerPid(): Promise<number | null> {
    return (await childPids(this.pid))[0] ?? null;
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
    });
    for await (const line of createInterface({ input: child.stdout })) {
      const [, url] = /(http:\/\/[\d.]+:\d+)/.exec(line) ?? [];
      if (url === undefined) continue;
      child.stdout.resume();
      this.#url = url;
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

  /** Connection string of the superuser of the embedded database. */
  async databaseUrl(): Promise<string> {
    return embeddedDatabaseUrl(this.dataDir);
  }

  async remove(): Promise<void> {
    await removeEmbeddedPostgres(this.dataDir);
    await rm(this.dataDir, { recursive: true, force: true });
  }

  #environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env.PATH,
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
