import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Seed } from './seed.js';
import { STARTED_SCANNER_HOST, startService } from './started-service.js';

/** The service under test. */
export interface Target {
  /** Base addresses of its API processes; requests go to them in turn. */
  readonly urls: readonly string[];
  /** Makes a new tenant. @param options of `admin seed-demo` */
  seed(options: readonly string[]): Promise<Seed>;
  stop(): Promise<void>;
}

/** The second host name of the service; null if the one who runs the suite named none. Known before anything runs. */
export const SCANNER_HOST: string | null =
  process.env.ACCEPTANCE_URL === undefined ? STARTED_SCANNER_HOST : (process.env.ACCEPTANCE_SCANNER_HOST ?? null);

/**
 * The service that `ACCEPTANCE_URL` (one address, or several separated by commas, of processes on one database) and
 * `ACCEPTANCE_SEED_COMMAND` (a shell command) name, or else one that is started here.
 */
export async function openTarget(env: NodeJS.ProcessEnv): Promise<Target> {
  const { ACCEPTANCE_URL: addresses, ACCEPTANCE_SEED_COMMAND: seedCommand } = env;
  if (addresses === undefined) {
    const started = await startService();
    return {
      urls: [started.url],
      seed: (options) => seed(started.seedCommand, options, started.env),
      stop: () => started.stop(),
    };
  }
  if (seedCommand === undefined) throw new Error('ACCEPTANCE_URL needs ACCEPTANCE_SEED_COMMAND beside it');
  return {
    urls: addresses.split(',').map((address) => address.trim().replace(/\/+$/, '')),
    seed: (options) => seed(seedCommand, options, env),
    stop: async () => undefined,
  };
}

async function seed(command: string, options: readonly string[], env: NodeJS.ProcessEnv): Promise<Seed> {
  const quoted = options.map((option) => `'${option}'`).join(' ');
  const child = spawn(`${command} ${quoted}`, { shell: true, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(`seeding failed: ${Buffer.concat(errors).toString('utf8')}`);
  return Seed.parse(JSON.parse(Buffer.concat(output).toString('utf8')));
}
