import { z } from 'zod';
import { Uuid } from '../../evidence/primitives.js';
import { Timestamp } from './common.js';

/** Position of a publication's event in the ledger. */
export const Publication = z
  .object({
    event_id: Uuid,
    sealed: z
      .object({ batch: z.int(), sealed_at: Timestamp })
      .nullable()
      .describe('Number of the Merkle batch; null: not in a batch yet.'),
    stamped: z
      .object({ checkpoint_size: z.int(), gen_time: Timestamp })
      .nullable()
      .describe('The first time stamp of a checkpoint that covers the batch; null: none yet.'),
  })
  .meta({ id: 'Publication' });
export type Publication = z.infer<typeof Publication>;
