import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { decodeKey } from '../config/formats.js';
import type { MasterKeySource } from '../config/index.js';
import { syncFolder } from '../files/sync-folder.js';
import { KeyError } from './errors.js';

/**
 * Reads the master key. Creates one if `DATA_DIR` is its source and has none yet. Processes that
 * start at the same time get the same key.
 * @returns an AES-256 key, as an object that loggers do not print
 * @throws KeyError `master_key_unreadable`
 */
export async function loadMasterKey(source: MasterKeySource): Promise<KeyObject> {
  if (source.kind === 'given') return createSecretKey(source.key);
  if (source.kind === 'generated') await createIfMissing(source.path);
  let text: string;
  try {
    text = await readFile(source.path, 'utf8');
  } catch (error) {
    throw new KeyError(
      'master_key_unreadable',
      `The master key file ${source.path} cannot be read. Check the path and the permissions of the file.`,
      { cause: error },
    );
  }
  const key = decodeKey(text.trim());
  if (key === undefined) {
    throw new KeyError(
      'master_key_unreadable',
      `The master key file ${source.path} must hold exactly 32 bytes, as base64 or as 64 hexadecimal digits.`,
    );
  }
  return createSecretKey(key);
}

/**
 * Reads the master key again while the process runs: a rotated key replaces the file. Never creates
 * one.
 * @returns undefined if the source is the environment, which does not change
 */
export function reloadOf(source: MasterKeySource): (() => Promise<KeyObject>) | undefined {
  return source.kind === 'given' ? undefined : () => loadMasterKey({ kind: 'file', path: source.path });
}

/**
 * Creates the file by `link`, complete and durable. No process reads a partial key, and of two
 * processes one wins.
 */
async function createIfMissing(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  if (await readFile(path).then(() => true, isPresent)) return;
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(`${randomBytes(32).toString('base64')}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(draft, path).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
    await syncFolder(dirname(path));
  } finally {
    await rm(draft, { force: true });
  }
}

/** Returns whether the file exists. An unreadable file must never count as a missing one. */
function isPresent(error: unknown): boolean {
  return !hasCode(error, 'ENOENT');
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
