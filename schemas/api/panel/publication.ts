import * as z from 'zod';
import { Uuid } from '../../evidence/primitives.js';
import { Timestamp } from './common.js';

/** Position of a publication's event in the ledger. */
export const Publication = z
  .object({
    event_id: Uuid.describe('The event in the log.'),
    sealed: z
      .object({
        batch: z.int().describe('Number of the Merkle batch.'),
        sealed_at: Timestamp.describe('When the batch was sealed.'),
      })
      .nullable()
      .describe('Number of the Merkle batch, or null if it is in none yet.'),
    stamped: z
      .object({
        checkpoint_size: z.int().describe('Size of the stamped checkpoint.'),
        gen_time: Timestamp.describe('Time in the time stamp.'),
      })
      .nullable()
      .describe('The first time stamp of a checkpoint that covers the batch, or null if there is none yet.'),
  })
  .meta({ id: 'Publication' });
export type Publication = z.infer<typeof Publication>;
