import { z } from 'zod';
import { Instant, Sha256Hex } from '../evidence/primitives.js';

export const MAX_CHECKPOINTS = 1000;

/** A size as it stands in a path or a query: no leading zeroes, below 2^53. */
export const TreeSize = z
  .string()
  .regex(/^[1-9]\d{0,15}$/, 'must be a size')
  .transform(Number)
  .pipe(z.int());

export const CheckpointsQuery = z.object({
  /** Only checkpoints of larger sizes. */
  after: z
    .string()
    .regex(/^(?:0|[1-9]\d{0,15})$/, 'must be a size')
    .transform(Number)
    .pipe(z.int())
    .optional(),
});

/** GET /checkpoints: the stamped checkpoints by size, `MAX_CHECKPOINTS` at most; the next ones are asked for with `after`. */
export const CheckpointsResponse = z.object({
  data: z.object({
    /** Verifier-key lines of the ledger's keys, the oldest first. Whoever verifies should have them from elsewhere. */
    keys: z.array(z.string()),
    checkpoints: z.array(z.object({ size: z.int(), time: Instant, note: z.string(), token: z.string() })),
  }),
});
export type CheckpointsResponse = z.infer<typeof CheckpointsResponse>;

/** GET /checkpoints/{size}/consistency/{from} (RFC 9162 §2.1.4) */
export const ConsistencyResponse = z.object({
  data: z.object({ from: z.int(), size: z.int(), hashes: z.array(Sha256Hex) }),
});
export type ConsistencyResponse = z.infer<typeof ConsistencyResponse>;
