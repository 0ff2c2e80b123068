import * as z from 'zod';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import type { Queryable } from '../../platform/database/pool.js';

/**
 * Reads the bytes of a notice.
 * @throws Error if they are missing or do not match their hash, so that an altered text is never
 *   shown
 */
export async function readContent(db: Queryable, contentSha256: string): Promise<Uint8Array> {
  const { rows } = await db.query('select content from notice_contents where sha256 = $1', [contentSha256]);
  const [row] = z.array(z.object({ content: z.instanceof(Uint8Array) })).parse(rows);
  if (row === undefined || toHex(sha256(row.content)) !== contentSha256) {
    throw new Error(`the notice ${contentSha256} is missing or altered`);
  }
  return row.content;
}
