import { readdir, readFile } from 'node:fs/promises';

/**
 * Returns the memory of a process group in bytes, with pages that several of its processes share counted
 * once (PSS).
 * @returns null where the system does not tell (no `/proc`: macOS)
 */
export async function groupMemory(group: number): Promise<number | null> {
  const names = await readdir('/proc').catch(() => null);
  if (names === null) return null;
  const processes = names.filter((name) => /^\d+$/.test(name));
  const sizes = await Promise.all(
    processes.map(async (pid) => ((await groupOf(pid)) === group ? await memoryOf(pid) : 0)),
  );
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

/** The fifth field; the second one is a name in parentheses, in which anything can be. */
async function groupOf(pid: string): Promise<number | null> {
  const stat = await textOf(pid, 'stat');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
}

/** A process that may not be looked into counts with what it alone can have. */
async function memoryOf(pid: string): Promise<number> {
  const shares = /^Pss:\s+(\d+) kB$/m.exec(await textOf(pid, 'smaps_rollup'))?.[1];
  if (shares !== undefined) return Number(shares) * 1024;
  const own = [...(await textOf(pid, 'status')).matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)];
  return own.reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0);
}

/** Empty for a process that has ended meanwhile. */
function textOf(pid: string, file: string): Promise<string> {
  return readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
}
