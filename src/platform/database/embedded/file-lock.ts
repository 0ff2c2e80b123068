import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { link, readFile, realpath, rm, unlink, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import * as z from 'zod';
import { EmbeddedPostgresError } from './settings.js';

/**
 * Returns the start time of a process as an opaque text, or `undefined` if no such process runs. A zombie does not
 * count as running.
 *
 * A process id alone does not identify a process: ids are reused, in containers even immediately.
 * Id and start time together do.
 */
export async function processStart(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const [stat, boot] = await Promise.all([readOrUndefined(`/proc/${pid}/stat`), readOrUndefined(BOOT_ID)]);
    if (stat === undefined) return undefined;
    // The second field is the program's name in parentheses. The name may contain spaces and
    // parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : `${boot?.trim() ?? ''}:${fields[19] ?? ''}`;
  }
  if (process.platform === 'win32') return signalReaches(pid) ? 'running' : undefined;
  return (await ps(pid, 'lstart='))?.trim() || undefined;
}

/**
 * Returns whether process `pid` is a postmaster that runs on `clusterDir`, and not an unrelated
 * process with the same id. The check reads the command line, which any account may read. In a
 * container, even root may not read the working directory.
 */
export async function isPostmasterOf(pid: number, clusterDir: string): Promise<boolean> {
  if ((await processStart(pid)) === undefined) return false;
  if (process.platform === 'win32') return true;
  const folders = [clusterDir, await realpath(clusterDir).catch(() => clusterDir)];
  if (process.platform === 'linux') {
    const words = (await readOrUndefined(`/proc/${pid}/cmdline`))?.split('\0') ?? [];
    return words.some((word, index) => words[index - 1] === '-D' && folders.includes(word));
  }
  const command = await ps(pid, 'command=');
  return command !== undefined && folders.some((folder) => command.includes(`-D ${folder}`));
}

const BOOT_ID = '/proc/sys/kernel/random/boot_id';

async function readOrUndefined(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

async function ps(pid: number, format: string): Promise<string | undefined> {
  try {
    return (await promisify(execFile)('ps', ['-o', format, '-p', String(pid)])).stdout;
  } catch {
    return undefined;
  }
}

function signalReaches(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const holderSchema = z.object({ pid: z.number().int().positive(), start: z.string(), token: z.string() });
type Holder = z.infer<typeof holderSchema>;

const POLL_MS = 25;

/**
 * Runs `work` under a lock that excludes every other process and every other caller in this
 * process.
 *
 * The lock is a file that names its holder. It is created by `link`, so no process reads a partial
 * file. The lock of a dead process is removed. All processes must share one process table, so
 * containers must not share the folder.
 * @param path the lock file
 * @param timeoutMs how long to wait for another holder, in milliseconds
 * @throws EmbeddedPostgresError `lock_timeout`
 * @throws any error of `work`
 */
export async function withFileLock<T>(path: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const own: Holder = { pid: process.pid, start: (await processStart(process.pid)) ?? '', token: randomUUID() };
  await acquire(path, own, timeoutMs);
  try {
    return await work();
  } finally {
    if ((await readHolder(path))?.token === own.token) await unlink(path);
  }
}

async function acquire(path: string, own: Holder, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await tryCreate(path, own))) {
    const holder = await readHolder(path);
    if (holder !== undefined && (await isGone(holder))) {
      await breakLock(path, holder, own);
      continue;
    }
    if (Date.now() > deadline) {
      throw new EmbeddedPostgresError(
        'lock_timeout',
        `Process ${holder?.pid ?? 'unknown'} has held the lock ${path} for longer than ${timeoutMs / 1000} s. ` +
          'If that process does not belong to this program, delete the file.',
      );
    }
    await sleep(POLL_MS);
  }
}

async function tryCreate(path: string, own: Holder): Promise<boolean> {
  const draft = `${path}.${own.token}`;
  await writeFile(draft, JSON.stringify(own), { mode: 0o600 });
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Removes the lock of a dead process. Only the holder of a second lock may do so, after a second
 * check. Otherwise two processes that both saw the dead holder could remove the dead lock and then
 * the new one.
 */
async function breakLock(path: string, dead: Holder, own: Holder): Promise<void> {
  const guard = `${path}.break`;
  if (!(await tryCreate(guard, own))) {
    const breaker = await readHolder(guard);
    if (breaker !== undefined && (await isGone(breaker))) await rm(guard, { force: true });
    await sleep(POLL_MS);
    return;
  }
  try {
    if ((await readHolder(path))?.token === dead.token) await unlink(path);
  } finally {
    await rm(guard, { force: true });
  }
}

async function isGone(holder: Holder): Promise<boolean> {
  return (await processStart(holder.pid)) !== holder.start;
}

/**
 * Returns the holder, or `undefined` if the lock is free. A file that names no holder counts as the lock of a dead
 * process.
 */
async function readHolder(path: string): Promise<Holder | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return holderSchema.parse(JSON.parse(text));
  } catch {
    return { pid: 2 ** 31 - 1, start: 'never', token: '' };
  }
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
