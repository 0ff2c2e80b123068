import type { KeyObject } from 'node:crypto';
import * as z from 'zod';
import type { Queryable } from '../database/pool.js';
import { withTransaction } from '../database/pool.js';
import { KeyringStore } from './keyring-store.js';
import { unwrapKey, wrapKey } from './wrapping.js';

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
 * @param db may LOCK and UPDATE `keyring` (the schema's owner)
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
