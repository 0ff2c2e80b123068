import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

// The build puts this program into `dist`.
const LEDGER = fileURLToPath(new URL('../bin/consent-ledger.js', import.meta.url));
/** The program of the verifier's package. */
export const VERIFIER = join(
  dirname(createRequire(import.meta.url).resolve('@consent-ledger/verify/package.json')),
  'dist/consent-verify.js',
);

export interface Outcome {
  readonly exitCode: number;
  readonly output: string;
}

/**
 * Runs `consent-ledger` in a separate process.
 * @returns standard output
 * @throws Error if it fails
 */
export async function consentLedger(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { exitCode, output } = await run(LEDGER, args, env);
  if (exitCode !== 0) throw new Error(`consent-ledger ${args.slice(0, 2).join(' ')} ended with exit code ${exitCode}`);
  return output;
}

/** Runs `consent-verify` in a separate process, without the service's environment. */
export function consentVerify(args: readonly string[]): Promise<Outcome> {
  return run(VERIFIER, args, {});
}

async function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Outcome> {
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [exitCode] = await once(child, 'close');
  return { exitCode: typeof exitCode === 'number' ? exitCode : 1, output: Buffer.concat(chunks).toString('utf8') };
}

/** A running `consent-ledger serve`. */
export interface Service {
  readonly baseUrl: string;
  stop(): Promise<void>;
}

/** Starts the service and waits for the URL in its output. */
export async function startService(env: NodeJS.ProcessEnv): Promise<Service> {
  const child = spawn(process.execPath, [LEDGER, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const address = (async () => {
    for await (const line of lines) {
      const [, url] = /(http:\/\/[\d.]+:\d+)/.exec(line) ?? [];
      if (url !== undefined) return url;
    }
    throw new Error('the service ended before it listened');
  })();
  const baseUrl = await address;
  child.stdout.resume();
  return { baseUrl, stop: () => stop(child, ended) };
}

async function stop(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.exitCode === null) child.kill('SIGTERM');
  await ended;
  if (child.exitCode !== 0) throw new Error(`the service ended with exit code ${child.exitCode}`);
}
