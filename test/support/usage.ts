import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** What a worker has used so far. Times are processor time in milliseconds. */
export interface Usage {
  readonly tests: number;
  /** Of the programs that the worker started and that have ended. */
  readonly programs: number;
  readonly processes: number;
  readonly chromium: number;
  readonly databases: number;
  readonly sessions: number;
}

/** What a test file used, and what a fixed amount of work took in its worker just before. */
export interface FileUsage extends Usage {
  readonly calibration: number;
}

declare module 'vitest' {
  interface TaskMeta {
    usage?: FileUsage;
  }
}

/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10;
const counts = { processes: 0, chromium: 0, databases: 0, sessions: 0 };

export function countProcess(program: string): void {
  // Each worker starts it once, when a test first bundles something.
  if (program.endsWith('esbuild')) return;
  counts.processes += 1;
  if (/chrom/i.test(program)) counts.chromium += 1;
}

export function countDatabase(): void {
  counts.databases += 1;
}

/** Counts a connection that this worker opens to PostgreSQL. */
export function countSession(): void {
  counts.sessions += 1;
}

export function usedSoFar(): Usage {
  const { user, system } = process.cpuUsage();
  return { tests: (user + system) / 1_000, programs: times(process.pid).ended, ...counts };
}

export function usedSince(before: Usage): Usage {
  const now = usedSoFar();
  return {
    tests: now.tests - before.tests,
    programs: now.programs - before.programs,
    processes: now.processes - before.processes,
    chromium: now.chromium - before.chromium,
    databases: now.databases - before.databases,
    sessions: now.sessions - before.sessions,
  };
}

/** @returns processor time of a process and of its ended children, in milliseconds; 0 where there is no /proc */
export function timeOf(pid: number): number {
  const { own, ended } = times(pid);
  return own + ended;
}

function times(pid: number): { readonly own: number; readonly ended: number } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Fields 14 to 17 of proc_pid_stat(5). The name in parentheses may contain spaces.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
    return { own: (user + system) * TICK_MS, ended: (endedUser + endedSystem) * TICK_MS };
  } catch {
    return { own: 0, ended: 0 };
  }
}

/**
 * Does a fixed amount of work of the kinds that tests do most: JSON, hashing, and objects that are soon gone.
 * @returns its processor time in milliseconds
 */
export function calibrate(): number {
  const before = process.cpuUsage();
  let digest = 'calibration';
  for (let round = 0; round < 100; round += 1) {
    const items = Array.from({ length: 100 }, (_, index) => ({ index, name: `${digest}-${index % 7}` }));
    const text = JSON.stringify(items.toSorted((a, b) => (a.name < b.name ? -1 : 1)));
    digest = createHash('sha256')
      .update(JSON.stringify(JSON.parse(text)))
      .digest('hex');
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
