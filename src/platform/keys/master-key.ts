import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';
import { decodeKey } from '../config/formats.js';
import type { MasterKeySource } from '../config/index.js';
import { type Queryable, withTransaction } from '../database/pool.js';
import { syncFolder } from '../files.js';
import { unwrapKey, wrapKey } from './aes-gcm.js';
import { KeyError } from './errors.js';
import { KeyringStore } from './keyring-store.js';

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
 * Creates the file with `link`, complete and durable. No process can read a partial key, and if two processes try, one
 * wins.
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

const rowsSchema = z.array(
  z.object({
    key_id: z.string(),
    purpose: z.string(),
    owner_id: z.uuid().nullable(),
    wrapped: z.instanceof(Buffer),
  }),
);

/**
 * Wraps every key with another master key, in one transaction. Afterwards only the new one opens
 * the keyring. Records do not change, because they depend on the site keys, which stay the same.
 * Running processes keep their cached keys. They create no new keys until they have the new master
 * key.
 * @param db a handle that may LOCK and UPDATE `keyring` (the schema's owner)
 * @returns number of keys that were wrapped again
 * @throws KeyError `wrong_master_key` if `current` is not the one in use, `unwrap_failed` if a row
 *   was altered
 */
export async function rewrapAll(db: Queryable, current: KeyObject, next: KeyObject): Promise<number> {
  await KeyringStore.open(db, current);
  return withTransaction(db, async (db) => {
    // Excludes other rotations, and inserts of keys wrapped with the old master key after this
    // read.
    await db.query('LOCK TABLE keyring IN SHARE ROW EXCLUSIVE MODE');
    const rows = rowsSchema.parse((await db.query('SELECT key_id, purpose, owner_id, wrapped FROM keyring')).rows);
    const wrapped = rows.map((row) => {
      const identity = { keyId: row.key_id, purpose: row.purpose, ownerId: row.owner_id };
      return wrapKey(next, unwrapKey(current, row.wrapped, identity), identity);
    });
    await db.query(
      `UPDATE keyring SET wrapped = new.wrapped
         FROM unnest($1::text[], $2::bytea[]) AS new (key_id, wrapped) WHERE keyring.key_id = new.key_id`,
      [rows.map((row) => row.key_id), wrapped],
    );
    return rows.length;
  });
}
