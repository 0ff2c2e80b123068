import type { KeyObject } from 'node:crypto';
import * as z from 'zod';
import type { Queryable } from '../database/pool.js';
import { unwrapKey } from './aes-gcm.js';
import { KeyError } from './errors.js';
import { CHECK_KEY_ID, isKeySealed, KeySeal, keySealColumns } from './keyring-store.js';
import { signingKeyOf } from './signing-key.js';

const PAGE = 500;
const Rows = z.array(
  KeySeal.extend({
    key_id: z.string(),
    purpose: z.string(),
    owner_id: z.string().nullable(),
    wrapped: z.instanceof(Buffer),
    public_key: z.instanceof(Buffer).nullable(),
    retired_at: z.date().nullable(),
  }),
);
type Row = z.infer<typeof Rows>[number];

/**
 * Checks the rows of `keyring`: each key must unwrap for its row, its public key must be its own, and its
 * seal must be valid.
 * @param after id of a key; null starts with the first
 * @returns the ids of a page that were checked, and those among them that fail; an empty list at the end
 */
export async function checkKeyRows(
  db: Queryable,
  master: KeyObject,
  after: string | null,
): Promise<{ readonly checked: readonly string[]; readonly altered: readonly string[] }> {
  const { rows } = await db.query(
    `select key_id, purpose, owner_id, wrapped, public_key, retired_at, ${keySealColumns('k')}
       from keyring k where $1::text is null or key_id > $1 order by key_id limit $2`,
    [after, PAGE],
  );
  const parsed = Rows.parse(rows);
  return {
    checked: parsed.map((row) => row.key_id),
    altered: parsed.filter((row) => !isGenuine(master, row)).map((row) => row.key_id),
  };
}

function isGenuine(master: KeyObject, row: Row): boolean {
  const { key_id: keyId, purpose, owner_id: ownerId, public_key: publicKey, retired_at: retiredAt } = row;
  try {
    const secret = unwrapKey(master, row.wrapped, { keyId, purpose, ownerId });
    if (publicKey !== null) signingKeyOf({ keyId, ownerId, secret, publicKey, retiredAt });
    // The secret of this row is public, because the row only shows which master key is in force.
    return keyId === CHECK_KEY_ID || isKeySealed(secret, row);
  } catch (error) {
    if (error instanceof KeyError) return false;
    throw error;
  }
}
