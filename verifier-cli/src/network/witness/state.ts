import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { sha256Hex } from '../../../../schemas/crypto/digest.js';
import { decodeUtf8 } from '../../../../schemas/crypto/encoding.js';
import { Count, Sha256Hex } from '../../../../schemas/evidence/primitives.js';
import { UsageError } from '../../cli/usage-error.js';
import { parseShape } from '../../files/parse.js';
import { englishText } from '../../findings/finding.js';
import { codeOf, createFile, readIfThere, replaceFile } from '../durable-file.js';

const OriginState = z.strictObject({
  v: z.literal(1),
  origin: z.string(),
  /** Size and root of the newest checkpoint that was cosigned. */
  size: Count,
  root: Sha256Hex,
});
/** State that a witness stores about one ledger. */
export type OriginState = z.infer<typeof OriginState>;

/** The memory of a witness, in a folder that one process uses at a time. */
export interface WitnessState {
  /** @returns null if no checkpoint of this origin was cosigned @throws Error if the file is damaged */
  read(origin: string): Promise<OriginState | null>;
  /** Resolves when the state is durable. */
  write(state: OriginState): Promise<void>;
  /** Releases the folder. */
  close(): Promise<void>;
}

/**
 * Opens the folder, and creates it if it does not exist.
 * @throws UsageError if another process uses the folder: two witnesses with one key could cosign two
 *   histories
 */
export async function openWitnessState(folder: string): Promise<WitnessState> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lock = join(folder, 'lock');
  await takeLock(lock, folder);
  const fileOf = (origin: string) => join(folder, `${sha256Hex(origin)}.json`);
  return {
    async read(origin) {
      const bytes = await readIfThere(fileOf(origin));
      if (bytes === null) return null;
      const parsed = parseShape(OriginState, bytes);
      if (parsed.ok && parsed.value.origin === origin) return parsed.value;
      const reason = parsed.ok ? 'it is of another origin' : englishText(parsed.reason);
      throw new Error(`${fileOf(origin)} is damaged (${reason}): restore the newest copy of it`);
    },
    write: (state) => replaceFile(fileOf(state.origin), `${JSON.stringify(state)}\n`),
    close: () => rm(lock, { force: true }),
  };
}

async function takeLock(path: string, folder: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await createFile(path, `${process.pid} ${await startOf(process.pid)}\n`);
      return;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    const [pid = '', start = ''] = (await textOf(path))?.trim().split(' ') ?? [];
    if (attempt > 1 || (await isOtherProcess(Number(pid), start)))
      throw new UsageError(`the process ${pid || 'unknown'} uses ${folder}: stop it, or give another folder`);
    await rm(path, { force: true });
  }
}

/**
 * Returns whether another process that holds a lock is still running. After a crash, its lock remains; after a restart
 * of the machine, an unrelated process often has its id.
 * @param start the start that `startOf` returns; empty if the lock does not state it
 */
async function isOtherProcess(pid: number, start: string): Promise<boolean> {
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid) return false;
  if (start !== '' && start !== (await startOf(pid))) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/**
 * Returns the boot of the machine and the start of a process, without spaces. Empty if the system does not tell them.
 */
async function startOf(pid: number): Promise<string> {
  const [boot, stat] = await Promise.all([textOf('/proc/sys/kernel/random/boot_id'), textOf(`/proc/${pid}/stat`)]);
  // The second field, the name of the program in parentheses, may contain spaces.
  const start = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  return boot === null || start === undefined ? '' : `${boot.trim()}/${start}`;
}

async function textOf(path: string): Promise<string | null> {
  const bytes = await readIfThere(path);
  return bytes === null ? null : decodeUtf8(bytes);
}
