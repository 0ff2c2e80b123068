import type { KeyObject } from 'node:crypto';
import type pg from 'pg';
import * as z from 'zod';
import { unwrapKey } from '../../src/platform/keys/aes-gcm.js';
import { KeySeal, keySealColumns, sealOfKey } from '../../src/platform/keys/keyring-store.js';

const Rows = z.tuple([KeySeal.extend({ purpose: z.string(), wrapped: z.instanceof(Buffer) })]);

/** Sets a time of a key of the installation to now, as if the time before had passed, and seals its row. */
export async function moveKeyTime(
  db: pg.Pool,
  master: KeyObject,
  keyId: string,
  column: 'signs_from' | 'verifies_until',
): Promise<void> {
  const { rows } = await db.query(
    `update keyring k set ${column} = now() where key_id = $1 returning purpose, wrapped, ${keySealColumns('k')}`,
    [keyId],
  );
  const [{ purpose, wrapped, sealed_text: text }] = Rows.parse(rows);
  const secret = unwrapKey(master, wrapped, { keyId, purpose, ownerId: null });
  await db.query('update keyring set seal = $2 where key_id = $1', [keyId, sealOfKey(secret, text)]);
}
