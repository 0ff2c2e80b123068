import { z } from 'zod';
import { utf8 } from '../../../schemas/crypto/encoding.js';
import { verifyTimestamp } from '../../../schemas/rfc3161/verify.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { StatedTime } from '../../timestamping/acceptance.js';

/** Properties of the newest stored time stamp that the stamper needs. */
export interface NewestStamp extends StatedTime {
  readonly size: number;
  /**
   * Time until which it is sound without a newer one over it; null if its chain does not lead to a
   * configured root.
   */
  readonly soundUntil: Date | null;
}

const bytes = z.instanceof(Uint8Array);
const stampRows = z
  .array(z.object({ size: z.int(), note: z.string(), tsr: bytes, gen_time: z.date(), certificates: z.array(bytes) }))
  .max(1);

/**
 * @param trustAnchors DER of the configured root certificates
 * @param at time at which algorithms are evaluated
 * @returns null before the first time stamp
 */
export async function readNewestStamp(
  db: Queryable,
  trustAnchors: readonly Uint8Array[],
  at: Date,
): Promise<NewestStamp | null> {
  const { rows } = await db.query(`
    select c.size, c.note, c.tsr, c.gen_time,
           array(select bytes from timestamp_evidence e where e.sha256 = any(c.certificates) and e.kind = 'certificate') as certificates
      from checkpoints c order by c.size desc limit 1`);
  const [row] = stampRows.parse(rows);
  if (row === undefined) return null;
  const report = await verifyTimestamp({
    token: row.tsr,
    stamped: { data: utf8(row.note) },
    trustAnchors,
    untrusted: row.certificates,
    revocation: 'ignore',
    at,
  });
  return {
    size: row.size,
    genTime: row.gen_time,
    accuracyMicroseconds: report.claims?.accuracyMicroseconds,
    soundUntil: report.soundUntil?.date ?? null,
  };
}
