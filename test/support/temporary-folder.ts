import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';

const PREFIX = 'consent-ledger-tests-';

/** Bytes. A run of the whole suite has about a quarter of this in temporary files at a time. */
const NEEDED = 2 * 2 ** 30;

/**
 * Returns the folder for the temporary files of this run, which is gone when the process ends: in
 * memory where the machine has 2 GiB free at /dev/shm, else the folder of the system. Each database
 * flushes every commit as in production, and the disk that waits for them would be what the
 * processors wait for. The processes that tests kill lose nothing of it, as from a disk.
 */
export function temporaryFolder(): string {
  if (process.env.TMPDIR !== undefined || !hasRoomInMemory()) return tmpdir();
  removeLeftOver();
  const folder = join(MEMORY, `${PREFIX}${process.pid}`);
  mkdirSync(folder, { recursive: true });
  // As /tmp has it: PostgreSQL runs as another user where the tests run as root.
  chmodSync(folder, 0o1777);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Containers often have 64 MiB there, or run no programs from it, which some tests do. */
function hasRoomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find((line) => line.split(' ')[1] === MEMORY);
    return bavail * bsize >= NEEDED && mount !== undefined && !mount.includes('noexec');
  } catch {
    return false;
  }
}

/** Memory is dear: what a run that was killed has left goes with the next run. */
function removeLeftOver(): void {
  for (const name of readdirSync(MEMORY)) {
    if (name.startsWith(PREFIX) && !isRunning(Number(name.slice(PREFIX.length)))) {
      rmSync(join(MEMORY, name), { recursive: true, force: true });
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
