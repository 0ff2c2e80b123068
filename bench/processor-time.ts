import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import * as z from 'zod';

const CLOCK_TICK_MS = 10;

/**
 * Returns the processor time that the PostgreSQL server and its processes have used so far, in
 * milliseconds.
 * @param postmaster its process id
 * @returns null without /proc
 */
export async function postgresCpuMs(postmaster: number): Promise<number | null> {
  let names: string[];
  try {
    names = await readdir('/proc');
  } catch {
    return null;
  }
  const stats = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map(readStat));
  let ticks = 0;
  for (const stat of stats) {
    if (stat === null) continue;
    if (stat.pid === postmaster) ticks += stat.ticks + stat.childTicks;
    else if (stat.parent === postmaster) ticks += stat.ticks;
  }
  return ticks * CLOCK_TICK_MS;
}

/**
 * Returns the processor time that a process and its threads have used so far, in milliseconds.
 * @returns null without /proc
 */
export async function processCpuMs(pid: number): Promise<number | null> {
  const stat = await readStat(String(pid));
  return stat === null ? null : stat.ticks * CLOCK_TICK_MS;
}

/**
 * Returns the resident memory of a process, in MiB.
 * @returns null without /proc
 */
export async function residentMiB(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  return kibibytes === undefined ? null : Number(kibibytes) / 1024;
}

/**
 * Returns the running processes of one program that a process has started, directly or not; none without /proc.
 * @param program part of their command lines
 */
export async function processesOf(parent: number, program: string): Promise<readonly number[]> {
  const names = await readdir('/proc').catch((): string[] => []);
  const all = (await Promise.all(names.filter((name) => /^\d+$/.test(name)).map(readStat))).filter(
    (stat) => stat !== null,
  );
  const below = (pid: number): readonly number[] =>
    all.filter((stat) => stat.parent === pid).flatMap((stat) => [stat.pid, ...below(stat.pid)]);
  const commands = await Promise.all(below(parent).map(async (pid) => ({ pid, command: await commandOf(pid) })));
  return commands.flatMap(({ pid, command }) => (command.includes(program) ? [pid] : []));
}

async function commandOf(pid: number): Promise<string> {
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ').trim();
}

/** Finds the listening process of a server, the parent of all its processes. */
export async function postmasterPid(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("select split_part(pg_read_file('postmaster.pid'), e'\\n', 1)::int as pid");
  await client.end();
  return z.tuple([z.object({ pid: z.int() })]).parse(rows)[0].pid;
}

async function readStat(name: string) {
  let text: string;
  try {
    text = await readFile(`/proc/${name}/stat`, 'utf8');
  } catch {
    // The process has ended in the meantime.
    return null;
  }
  // The command's name in parentheses may contain any character; the numbers follow it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [parent, user, system, childUser, childSystem] = [1, 11, 12, 13, 14].map((i) => Number(fields[i]));
  return {
    pid: Number(name),
    parent: parent ?? 0,
    ticks: (user ?? 0) + (system ?? 0),
    childTicks: (childUser ?? 0) + (childSystem ?? 0),
  };
}
