import * as z from 'zod';
import { utf8 } from '../../../schemas/crypto/encoding.js';
import { verifyTimestamp } from '../../../schemas/rfc3161/verify.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { StatedTime } from '../../timestamping/authorities.js';

/** Properties of the newest stamped checkpoint that the stamper needs. */
export interface NewestStamp extends StatedTime {
  readonly size: number;
  /**
   * Time until which all of its time stamps remain valid without a renewal. Null if the chain of one of them does not
   * lead to a configured root.
   */
  readonly soundUntil: Date | null;
}

const bytes = z.instanceof(Uint8Array);
const stampRows = z.array(
  z.object({ size: z.int(), note: z.string(), tsr: bytes, gen_time: z.date(), certificates: z.array(bytes) }),
);

/**
 * Reads the newest stamped checkpoint. The time is that of its latest time stamp, as the token states it. A wrong row
 * can only delay the next stamp, because `handoverOf` checks each append against the log.
 * @param trustAnchors DER of the configured root certificates
 * @param at time at which algorithms are evaluated
 * @returns null before the first one
 */
export async function readNewestStamp(
  db: Queryable,
  trustAnchors: readonly Uint8Array[],
  at: Date,
): Promise<NewestStamp | null> {
  const { rows } = await db.query(`
    select t.size, t.note, t.tsr, t.gen_time,
           array(select bytes from kept_evidence e where e.sha256 = any(t.certificates) and e.kind = 'certificate') as certificates
      from checkpoint_tokens t where t.size = (select max(size) from checkpoints)`);
  const stamps: NewestStamp[] = [];
  for (const row of stampRows.parse(rows)) {
    const report = await verifyTimestamp({
      token: row.tsr,
      stamped: { data: utf8(row.note) },
      trustAnchors,
      untrusted: row.certificates,
      revocation: 'ignore',
      at,
    });
    stamps.push({
      size: row.size,
      genTime: report.claims?.genTime ?? row.gen_time,
      accuracyMicroseconds: report.claims?.accuracyMicroseconds,
      soundUntil: report.soundUntil?.date ?? null,
    });
  }
  const [latest] = stamps.toSorted((a, b) => b.genTime.getTime() - a.genTime.getTime());
  if (latest === undefined) return null;
  const ends = stamps.map(({ soundUntil }) => soundUntil);
  const isEveryOneKnown = ends.every((end) => end !== null);
  return {
    ...latest,
    soundUntil: isEveryOneKnown ? new Date(Math.min(...ends.map((end) => end.getTime()))) : null,
  };
}

/**
 * Age at which a time stamp without a chain to a configured root is renewed, for example after a change of authorities.
 */
const UNKNOWN_ROOT_MS = 3_600_000;

/**
 * Returns the time at which a time stamp must be renewed: `marginMs` before it ceases to be valid, or half-way if its
 * whole lifetime is shorter than that.
 * @param soundUntil null if its chain does not lead to a configured root
 * @param marginMs margin in milliseconds
 */
export function renewalTime(genTime: Date, soundUntil: Date | null, marginMs: number): Date {
  if (soundUntil === null) return new Date(genTime.getTime() + UNKNOWN_ROOT_MS);
  const life = Math.max(0, soundUntil.getTime() - genTime.getTime());
  return new Date(Math.max(soundUntil.getTime() - marginMs, genTime.getTime() + life / 2));
}
