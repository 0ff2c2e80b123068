import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.js';

const CHECK = fileURLToPath(new URL('../../bin/health-check.js', import.meta.url));
/** A check waits for a quarter of the limit, and at most for ten seconds. */
const LIMIT_SECONDS = 12;
const PATIENT_SECONDS = 40;
/** A server that tells its process id, and is ready or not. */
const SERVER = `require('node:http').createServer((request, response) => {
  response.statusCode = request.url === '/readyz' ? Number(process.env.READY) : 200;
  response.end();
}).listen(Number(process.env.PORT), '127.0.0.1', () => console.log(process.pid));`;

let folder: string;
let port: number;
let init: ChildProcess | undefined;
let server = 0;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'consent-ledger-health-'));
  port = await freePort();
});
afterEach(() => {
  if (init !== undefined && isRunning(server)) process.kill(server, 'SIGKILL');
  init = undefined;
  rmSync(folder, { recursive: true, force: true });
});

/** Starts an init whose child is the server. */
async function startServer(ready: number): Promise<void> {
  const env = { ...process.env, PORT: String(port), READY: String(ready), PROGRAM: SERVER };
  // With a command after it, the shell does not become the server.
  init = spawn('sh', ['-c', 'node -e "$PROGRAM"; true'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  if (init.stdout === null) throw new Error('the server has no standard output');
  const [line] = await once(init.stdout, 'data');
  server = Number(line);
}

/** Runs the check. @returns its exit code */
function check(seconds = PATIENT_SECONDS): number | null {
  const env = { ...process.env, PORT: String(port), TMPDIR: folder };
  return spawnSync(process.execPath, [CHECK, String(init?.pid ?? process.pid), String(seconds)], { env }).status;
}

/** Lets the silence that a check found have begun before the limit. */
function passTime(): void {
  const file = join(folder, `consent-ledger-silent-${port}`);
  writeFileSync(file, String(Number(readFileSync(file, 'utf8')) - LIMIT_SECONDS));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('the health check of a container', () => {
  it.each([
    [200, 0],
    [503, 1],
  ])('ends with the readiness of the role: %s', async (ready, status) => {
    await startServer(ready);
    expect(check()).toBe(status);
    expect(isRunning(server)).toBe(true);
  });

  it('fails where nothing listens yet, and ends nothing', () => {
    expect([check(), check(), check()]).toEqual([1, 1, 1]);
  });

  it('ends a process that has not answered for the given time, so that the engine starts it again', async () => {
    await startServer(200);
    process.kill(server, 'SIGSTOP');
    const ended = once(init ?? process, 'exit');
    expect(check(LIMIT_SECONDS)).toBe(1);
    expect(isRunning(server)).toBe(true);
    passTime();
    await expect.poll(() => [check(LIMIT_SECONDS), isRunning(server)]).toEqual([1, false]);
    await ended;
  });

  it('forgets a silence that ended', async () => {
    await startServer(200);
    process.kill(server, 'SIGSTOP');
    expect(check(LIMIT_SECONDS)).toBe(1);
    passTime();
    process.kill(server, 'SIGCONT');
    expect(check()).toBe(0);
    process.kill(server, 'SIGSTOP');
    expect(check(LIMIT_SECONDS)).toBe(1);
    expect(isRunning(server)).toBe(true);
  });
});
