import { timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { hmacSha256 } from './hmac.js';

/** The columns of `keySealColumns`. */
export const KeySeal = z.object({ sealed_text: z.string(), seal: z.instanceof(Uint8Array).nullable() });
export type KeySeal = z.infer<typeof KeySeal>;

const LABEL = 'keyring-row\0';

/**
 * Returns the SQL of the text that the seal of a key's row binds: all columns except the wrapped key, which
 * a rotation of the master key replaces. The wrapped key binds its id, purpose and owner itself.
 * @param alias name of `keyring` in the statement
 */
export function keySealText(alias: string): string {
  const times = ['created_at', 'retired_at', 'signs_from', 'verifies_until'];
  return `jsonb_build_array(${alias}.key_id, ${alias}.purpose, ${alias}.owner_id::text, encode(${alias}.public_key, 'hex'), ${times
    .map((column) => `extract(epoch from ${alias}.${column})::text`)
    .join(', ')})::text`;
}

/** Returns the columns of a statement that reads rows of `keyring`, for `isKeySealed`. */
export function keySealColumns(alias: string): string {
  return `${keySealText(alias)} as sealed_text, ${alias}.seal`;
}

/**
 * Computes the seal of a key's row: HMAC-SHA256(the key, 'keyring-row' 0 text). An attacker who
 * can only write to the database has no key.
 * @param secret 32 bytes
 * @returns 32 bytes
 */
export function sealOfKey(secret: Uint8Array, text: string): Buffer {
  return hmacSha256(secret, `${LABEL}${text}`);
}

/** Returns whether the row of a key is as the service wrote it. @param secret of this key, 32 bytes */
export function isKeySealed(secret: Uint8Array, { sealed_text: text, seal }: KeySeal): boolean {
  const expected = sealOfKey(secret, text);
  return seal !== null && seal.length === expected.length && timingSafeEqual(seal, expected);
}
