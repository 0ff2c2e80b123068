import { execFile } from 'node:child_process';
import { readFile, realpath } from 'node:fs/promises';
import { promisify } from 'node:util';

/**
 * When a process was started, as an opaque text; `undefined` if no such process runs (a zombie does not).
 *
 * A process id alone names nothing for long: ids are reused, in containers even at once. Id and start together do.
 */
export async function processStart(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const [stat, boot] = await Promise.all([readOrUndefined(`/proc/${pid}/stat`), readOrUndefined(BOOT_ID)]);
    if (stat === undefined) return undefined;
    // The second field is the program's name in parentheses, which may itself hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : `${boot?.trim() ?? ''}:${fields[19] ?? ''}`;
  }
  if (process.platform === 'win32') return signalReaches(pid) ? 'running' : undefined;
  return (await ps(pid, 'lstart='))?.trim() || undefined;
}

/**
 * True if process `pid` is a postmaster that runs on `clusterDir`, and not just someone who got its id. Its command line
 * tells: any account may read that, unlike the working directory, which in a container even root may not.
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
