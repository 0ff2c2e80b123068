import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { removeEmbeddedPostgres } from '../../src/platform/database/embedded/index.js';
import { createTestDatabase, type TestDatabase } from './postgres.js';

const LEDGER = fileURLToPath(new URL('../../bin/consent-ledger.js', import.meta.url));

/**
 * A separate installation in a temporary folder, operated like a real one: by processes of the
 * built program.
 */
export class TestInstallation {
  private constructor(
    readonly dataDir: string,
    /** Variables of its processes. */
    readonly env: NodeJS.ProcessEnv,
    /** Null: the tests that made it have its database, or it is embedded. */
    private readonly database: TestDatabase | null,
  ) {}

  /** With a database on the server that all tests share, unless a variable names another. */
  static async make(env: NodeJS.ProcessEnv = {}): Promise<TestInstallation> {
    if (env.DATABASE_URL !== undefined) return TestInstallation.#in(env, null);
    const database = await createTestDatabase();
    return TestInstallation.#in({ ...env, DATABASE_URL: database.url }, database);
  }

  /** With the embedded PostgreSQL in its own folder, as the README starts it. */
  static makeEmbedded(env: NodeJS.ProcessEnv = {}): Promise<TestInstallation> {
    return TestInstallation.#in(env, null);
  }

  static async #in(env: NodeJS.ProcessEnv, database: TestDatabase | null): Promise<TestInstallation> {
    const dataDir = await mkdtemp(join(tmpdir(), 'consent-ledger-service-'));
    const defaults = {
      PATH: process.env.PATH,
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_LEVEL: 'error',
      LAME_DUCK_MS: '0',
      BATCH_MAX_AGE_MS: '300',
      STAMP_INTERVAL_MS: '500',
    };
    return new TestInstallation(dataDir, { ...defaults, ...env }, database);
  }

  /** The same installation, whose processes are started with further variables from now on. */
  with(env: NodeJS.ProcessEnv): TestInstallation {
    return new TestInstallation(this.dataDir, { ...this.env, ...env }, null);
  }

  /** Starts a role and waits until it reports its address. */
  async start(role: 'serve' | 'api' | 'worker' = 'serve'): Promise<RunningService> {
    const child = spawn(process.execPath, [LEDGER, role], { env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    const errors: string[] = [];
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString('utf8')));
    for await (const line of createInterface({ input: child.stdout })) {
      const [, url] = /(http:\/\/[\d.]+:\d+)/.exec(line) ?? [];
      if (url !== undefined) {
        child.stdout.resume();
        return new RunningService(child, url, errors);
      }
    }
    throw new Error(`the ${role} ended before it listened: ${errors.join('')}`);
  }

  /**
   * Runs a command.
   * @returns exit code and outputs
   */
  async run(...args: string[]): Promise<{ exitCode: number | null; stdout: string; stderr: string }> {
    const child = spawn(process.execPath, [LEDGER, ...args], { env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    await once(child, 'close');
    return {
      exitCode: child.exitCode,
      stdout: Buffer.concat(out).toString('utf8'),
      stderr: Buffer.concat(err).toString('utf8'),
    };
  }

  /** Runs a command that must succeed and print one JSON value. */
  async json(...args: string[]): Promise<unknown> {
    const { exitCode, stdout, stderr } = await this.run(...args, '--json');
    if (exitCode !== 0) throw new Error(`consent-ledger ${args.join(' ')} ended with ${exitCode}: ${stderr}`);
    return JSON.parse(stdout);
  }

  async remove(): Promise<void> {
    if (this.env.DATABASE_URL === undefined) await removeEmbeddedPostgres(this.dataDir);
    await this.database?.drop();
    await rm(this.dataDir, { recursive: true, force: true });
  }
}

export class RunningService {
  constructor(
    private readonly child: ChildProcess,
    readonly url: string,
    private readonly errors: readonly string[],
  ) {}

  get stderr(): string {
    return this.errors.join('');
  }

  /** Process id of the worker of `serve`; null while there is none. */
  workerPid(): number | null {
    return this.#processes('worker-process.js')[0] ?? null;
  }

  /** Process id of the first process that answers callers; null while there is none. */
  apiPid(): number | null {
    return this.#processes('first-api-process.js')[0] ?? null;
  }

  /** Sends a signal, for example SIGSTOP, to the first process that answers callers, and waits for nothing. */
  signal(signal: NodeJS.Signals): void {
    const api = this.apiPid();
    if (api !== null) process.kill(api, signal);
  }

  /** Kills its processes as a power failure would. */
  async kill(): Promise<void> {
    const others = this.#processes('-process.js');
    await this.killParent();
    for (const pid of others) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended with its parent.
      }
    }
  }

  /** Kills the process that started all others. */
  async killParent(): Promise<void> {
    const closed = this.#closed();
    this.child.kill('SIGKILL');
    await closed;
  }

  /**
   * Sends a signal to end the process.
   * @returns its exit code
   */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const closed = this.#closed();
    this.child.kill(signal);
    await closed;
    return this.child.exitCode;
  }

  /** Processes below this one whose command line contains a text. */
  #processes(text: string): readonly number[] {
    const all = execFileSync('ps', ['-eo', 'pid,ppid,args'], { encoding: 'utf8' })
      .split('\n')
      .flatMap((line) => {
        const [, pid, parent, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
        return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), args }];
      });
    const below = (parent: number | undefined): typeof all =>
      all.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)]);
    return below(this.child.pid).flatMap(({ pid, args }) => (args.includes(text) ? [pid] : []));
  }

  async #closed(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
  }
}
