import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;
/** Writing the head takes milliseconds: a process that holds the lock this long has died. */
const DEAD_AFTER_MS = 10_000;

/** The lock of `ledger-head.json`, held. */
export interface HeadLock {
  /** @throws Error if the lock was taken from this process, because it stood still for ten seconds */
  assertHeld(): Promise<void>;
  release(): Promise<void>;
}

/**
 * Waits for the lock, a file that names its holder. Processes on several machines may hold it in
 * turn, so a process id says nothing about its holder: one that does not change for ten seconds is
 * removed.
 */
export async function holdHeadLock(path: string): Promise<HeadLock> {
  const token = randomUUID();
  let [other, since] = ['', performance.now()];
  while (!(await create(path, token))) {
    const holder = await holderOf(path);
    if (holder !== other) [other, since] = [holder, performance.now()];
    else if (performance.now() - since > DEAD_AFTER_MS) await breakLock(path, other);
    await sleep(POLL_MS);
  }
  return {
    assertHeld: async () => {
      if ((await holderOf(path)) !== token) throw new Error(`another process took the lock ${path} from this one`);
    },
    release: async () => {
      if ((await holderOf(path)) === token) await rm(path, { force: true });
    },
  };
}

async function create(path: string, token: string): Promise<boolean> {
  try {
    await writeFile(path, token, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Removes a dead holder. If several processes find the same one, `rename` lets one of them remove it. */
async function breakLock(path: string, dead: string): Promise<void> {
  if ((await holderOf(path)) !== dead) return;
  const aside = `${path}.${randomUUID()}`;
  await rename(path, aside).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
  await rm(aside, { force: true });
}

/** @returns an empty text for a lock that is free */
async function holderOf(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
