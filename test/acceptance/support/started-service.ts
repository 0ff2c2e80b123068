import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const COMMAND = join(ROOT, 'bin', 'consent-ledger.js');
const BUILT = join(ROOT, 'dist', 'main.js');

/** Host name that the started service takes as its second one. */
export const STARTED_SCANNER_HOST = 'scanner.acceptance.example';

/** A service that this suite started itself, in a folder of its own, as a user would. */
export interface StartedService {
  readonly url: string;
  /** Shell command that prints a fresh seed as JSON. */
  readonly seedCommand: string;
  /** Variables that the seed command needs. */
  readonly env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

/** Builds the service if that was not done yet, and starts it. */
export async function startService(): Promise<StartedService> {
  if (!(await exists(BUILT))) await runBuild();
  const dataDir = await mkdtemp(join(tmpdir(), 'consent-ledger-acceptance-'));
  const env = {
    PATH: process.env.PATH,
    DATA_DIR: dataDir,
    PORT: '0',
    LOG_LEVEL: 'error',
    SCANNER_HOST: STARTED_SCANNER_HOST,
    // Sealed and stamped soon, so that no test waits long for evidence.
    BATCH_MAX_AGE_MS: '500',
    STAMP_INTERVAL_MS: '1000',
    ...(process.env.EVENTSTORE_URL === undefined ? {} : { EVENTSTORE_URL: process.env.EVENTSTORE_URL }),
  };
  const child = spawn(process.execPath, [COMMAND, 'serve'], { env, cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await addressOf(child);
  return {
    url,
    seedCommand: `"${process.execPath}" "${COMMAND}" admin seed-demo --json`,
    env,
    stop: async () => {
      const ended = child.exitCode === null ? once(child, 'exit') : null;
      child.kill('SIGTERM');
      await ended;
      await removeData(dataDir);
    },
  };
}

async function addressOf(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the service has no standard output');
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /listens on (http:\/\/\S+)/.exec(line) ?? [];
    if (url !== undefined) {
      child.stdout.resume();
      return url;
    }
  }
  throw new Error('the service ended before it said where it listens');
}

async function runBuild(): Promise<void> {
  const build = spawn('npm', ['run', '-s', 'build'], { cwd: ROOT, stdio: 'inherit' });
  await once(build, 'close');
  if (build.exitCode !== 0) throw new Error(`the build ended with ${build.exitCode}`);
}

const EmbeddedState = z.object({ home: z.string() });

/** A service that root starts keeps its database elsewhere, and says where in `embedded.json`. */
async function removeData(dataDir: string): Promise<void> {
  const state = join(dataDir, 'embedded.json');
  if (await exists(state)) {
    const { home } = EmbeddedState.parse(JSON.parse(await readFile(state, 'utf8')));
    await rm(home, { recursive: true, force: true });
  }
  await rm(dataDir, { recursive: true, force: true });
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
