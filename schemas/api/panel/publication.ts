import { z } from 'zod';
import { Uuid } from '../../evidence/primitives.js';
import { Timestamp } from './common.js';

/** Where the event of a publication stands in the ledger. */
export const Publication = z.object({
  event_id: Uuid,
  /** Null: not in a batch yet. */
  sealed: z.object({ batch: z.int(), sealed_at: Timestamp }).nullable(),
  /** The first time-stamp over a checkpoint that holds the batch; null: none yet. */
  stamped: z.object({ checkpoint_size: z.int(), gen_time: Timestamp }).nullable(),
});
export type Publication = z.infer<typeof Publication>;
