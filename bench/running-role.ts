import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type MeasuredCommand, measuredCommand } from '../test/support/measured-process.js';
import { processCpuMs, processesOf, residentMiB } from './processor-time.js';

/** The program of this version. */
const LEDGER = fileURLToPath(new URL('../bin/consent-ledger.js', import.meta.url));

/** Programs of the processes that `serve` starts. */
const WORKER = 'worker-process';
const API = 'api-process';

/** Resources of one process; null without /proc. */
export interface ProcessUse {
  /** Processor time used so far, in milliseconds. */
  readonly cpuMs: number | null;
  readonly residentMiB: number | null;
}

/** A role as a user starts it, with a development time stamp authority. */
export class RunningRole {
  private constructor(
    private readonly child: ChildProcess,
    /** Its environment. */
    readonly env: NodeJS.ProcessEnv,
    private readonly dataDir: string,
    readonly port: number,
    private readonly program: string,
  ) {}

  /**
   * @param databaseUrl empty: the role starts an embedded PostgreSQL
   * @param env variables beside those of the database and its master key
   * @param program of the version that runs
   */
  static async start(
    role: 'worker' | 'serve',
    databaseUrl: string,
    masterKey: Buffer,
    env: NodeJS.ProcessEnv = {},
    program = LEDGER,
  ): Promise<RunningRole> {
    const dataDir = await mkdtemp(join(tmpdir(), 'consent-ledger-bench-role-'));
    const environment = {
      PATH: process.env.PATH,
      NODE_OPTIONS: process.env.NODE_OPTIONS,
      DATABASE_URL: databaseUrl,
      MASTER_KEY: masterKey.toString('base64'),
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_LEVEL: 'warn',
      ...env,
    };
    const child = spawn(process.execPath, [...process.execArgv, program, role], {
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    // A failed benchmark must leave no process running.
    process.once('exit', () => child.kill());
    for await (const line of createInterface({ input: child.stdout })) {
      const [, port] = /http:\/\/[\d.]+:(\d+)/.exec(line) ?? [];
      if (port !== undefined) {
        child.stdout.resume();
        return new RunningRole(child, environment, dataDir, Number(port), program);
      }
      console.error(line);
    }
    throw new Error(`the ${role} ended before it listened`);
  }

  /** Processor time that the process has used so far, in milliseconds; null without /proc. */
  cpuMs(): Promise<number | null> {
    return processCpuMs(this.child.pid ?? 0);
  }

  /**
   * Resources that the first process and those which answer callers use together, and those of the worker
   * process, null where there is none.
   */
  async use(): Promise<{ readonly main: ProcessUse; readonly worker: ProcessUse | null }> {
    const pid = this.child.pid ?? 0;
    const [worker] = await processesOf(pid, WORKER);
    const uses = await Promise.all([pid, ...(await processesOf(pid, API))].map(useOf));
    return { main: sumOf(uses), worker: worker === undefined ? null : await useOf(worker) };
  }

  /** Runs a command of the installation beside the role, until it ends. @throws Error if it fails */
  command(...args: readonly string[]): Promise<MeasuredCommand> {
    return measuredCommand(this.env, this.program, ...args);
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill('SIGTERM');
      await once(this.child, 'exit');
    }
    await rm(this.dataDir, { recursive: true, force: true });
  }
}

function sumOf(uses: readonly ProcessUse[]): ProcessUse {
  const sum = (values: readonly (number | null)[]): number | null =>
    values.reduce((all, value) => (all === null || value === null ? null : all + value), 0);
  return { cpuMs: sum(uses.map(({ cpuMs }) => cpuMs)), residentMiB: sum(uses.map((use) => use.residentMiB)) };
}

async function useOf(pid: number): Promise<ProcessUse> {
  return { cpuMs: await processCpuMs(pid), residentMiB: await residentMiB(pid) };
}
