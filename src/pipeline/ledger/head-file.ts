import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { Count, Instant, Sha256Hex } from '../../../schemas/evidence/primitives.js';
import { syncFolder } from '../../platform/files.js';
import { LedgerHeadUnreadable } from './errors.js';

const LedgerHead = z.strictObject({
  v: z.literal(1),
  /** Number of batches. */
  size: Count,
  /** Root of the ledger tree at that size. */
  root: Sha256Hex,
  /** Last revision of the stream `ledger`. */
  revision: z.int().min(-1),
  /** Verifier-key line of the signing key at that time; its name is the ledger's origin. */
  key: z.string().nullable(),
  written_at: Instant,
});
export type LedgerHead = z.infer<typeof LedgerHead>;

/**
 * The newest known head of the ledger, in a file outside the database. A restore of the database
 * does not change it.
 */
export interface LedgerHeadFile {
  readonly path: string;
  /**
   * @returns null if the file does not exist
   * @throws LedgerHeadUnreadable if the file does not contain a ledger head; errors of the file system
   */
  read(): Promise<LedgerHead | null>;
  /** Writes the head. It is durable on disk when the promise resolves. */
  write(head: LedgerHead): Promise<void>;
  /**
   * Replaces the head under a lock: if two ledgers diverge, only one of them passes `next`.
   * @param next receives the head in the file, and returns the one to write
   * @throws any error of `next`, which leaves the file as it is; those of `read`
   */
  replace(next: (stored: LedgerHead | null) => Promise<LedgerHead>): Promise<void>;
}

export function openLedgerHeadFile(path: string): LedgerHeadFile {
  const read = async (): Promise<LedgerHead | null> => {
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    });
    return text === null ? null : parseHead(text, path);
  };
  const write = async (head: LedgerHead): Promise<void> => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const temporary = `${path}.${randomUUID()}`;
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(`${JSON.stringify(head)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    await syncFolder(dirname(path));
  };
  const replace: LedgerHeadFile['replace'] = async (next) => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const lock = await holdHeadLock(`${path}.lock`);
    try {
      await write(await next(await read()));
      await lock.assertHeld();
    } finally {
      await lock.release();
    }
  };
  return { path, read, write, replace };
}

function parseHead(text: string, path: string): LedgerHead {
  try {
    return LedgerHead.parse(JSON.parse(text));
  } catch (error) {
    throw new LedgerHeadUnreadable(path, error);
  }
}

const POLL_MS = 20;
/** Writing the head takes milliseconds, so a process that holds the lock this long has died. */
const DEAD_AFTER_MS = 10_000;

/** The lock of `ledger-head.json`, held. */
export interface HeadLock {
  /** @throws Error if the lock was taken from this process because it made no progress for ten seconds */
  assertHeld(): Promise<void>;
  release(): Promise<void>;
}

/**
 * Waits for the lock, a file that names its holder. Processes on several machines may share it, so a process id cannot
 * show whether the holder is alive. A lock that does not change for ten seconds is removed.
 */
async function holdHeadLock(path: string): Promise<HeadLock> {
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

/** Removes the lock of a dead holder. If several processes try, `rename` lets one of them succeed. */
async function breakLock(path: string, dead: string): Promise<void> {
  if ((await holderOf(path)) !== dead) return;
  const aside = `${path}.${randomUUID()}`;
  await rename(path, aside).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
  await rm(aside, { force: true });
}

/** @returns an empty text if the lock is free */
async function holderOf(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
