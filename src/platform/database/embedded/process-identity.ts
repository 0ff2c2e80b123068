import { execFile } from 'node:child_process';
import { readFile, realpath } from 'node:fs/promises';
import { promisify } from 'node:util';

/**
 * Returns the start time of a process as an opaque text; `undefined` if no such process runs. A
 * zombie does not count as running.
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
