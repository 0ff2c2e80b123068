import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { processCpuMs } from './processor-time.js';

const LEDGER = fileURLToPath(new URL('../../bin/consent-ledger.js', import.meta.url));

/** `consent-ledger worker` as a user starts it, with a development time-stamp authority. */
export class RunningWorker {
  private constructor(
    private readonly child: ChildProcess,
    private readonly dataDir: string,
  ) {}

  /** @param env variables beside those of the database and its master key */
  static async start(databaseUrl: string, masterKey: Buffer, env: NodeJS.ProcessEnv = {}): Promise<RunningWorker> {
    const dataDir = await mkdtemp(join(tmpdir(), 'consent-ledger-bench-worker-'));
    const child = spawn(process.execPath, [...process.execArgv, LEDGER, 'worker'], {
      env: {
        PATH: process.env.PATH,
        NODE_OPTIONS: process.env.NODE_OPTIONS,
        DATABASE_URL: databaseUrl,
        MASTER_KEY: masterKey.toString('base64'),
        DATA_DIR: dataDir,
        PORT: '0',
        LOG_LEVEL: 'warn',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.includes('http://')) {
        child.stdout.resume();
        return new RunningWorker(child, dataDir);
      }
      console.error(line);
    }
    throw new Error('the worker ended before it listened');
  }

  /** Processor time that the worker has used so far, in milliseconds; null without /proc. */
  cpuMs(): Promise<number | null> {
    return processCpuMs(this.child.pid ?? 0);
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill('SIGTERM');
      await once(this.child, 'exit');
    }
    await rm(this.dataDir, { recursive: true, force: true });
  }
}
