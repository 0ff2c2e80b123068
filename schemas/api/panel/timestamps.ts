import * as z from 'zod';
import { Sha256Hex } from '../../evidence/primitives.js';
import { CheckpointLinks, TreeSize } from '../checkpoints.js';
import { CANONICAL_DIGITS, numberInUrl } from '../common.js';
import { dataOf, PageQuery, pageOf, Timestamp } from './common.js';

const Checkpoint = z
  .object({
    size: z.int().describe('Number of batches that the checkpoint covers.'),
    root: Sha256Hex.describe('Root hash of the ledger tree.'),
    gen_time: Timestamp.describe('Earliest time of the time stamps.'),
    authorities: z
      .array(z.string())
      .describe(
        'Hosts of the authorities, in the order of the time stamps; `development` for the development authority.',
      ),
    certificates_expire_at: Timestamp.nullable().describe(
      'When the first of the certificates stored with the tokens expires, or null if there are none.',
    ),
    ...CheckpointLinks,
  })
  .meta({ id: 'Checkpoint' });

/** A Merkle batch that holds an entry of the tenant. */
const Batch = z
  .object({
    number: z.int().describe('Number of the batch, from 0 without gaps.'),
    sealed_at: Timestamp.describe('When the batch was sealed.'),
    own_entries: z
      .object({
        consents: z.int().describe('Number of consents.'),
        notices: z.int().describe('Published texts, configurations and other entries that are not consents.'),
      })
      .describe('Entries of the tenant’s sites.'),
    root: Sha256Hex.describe('Root hash of the batch tree, which also contains entries of other tenants.'),
    header: z
      .string()
      .describe('Header of the batch as JCS text: its UTF-8 is the content of leaf `number` of the ledger tree.'),
    checkpoint: z
      .object({
        size: z.int().describe('Number of batches that the checkpoint covers.'),
        gen_time: Timestamp.describe('Time in the time stamp.'),
        ...CheckpointLinks,
      })
      .nullable()
      .describe('The first stamped checkpoint that covers the batch, or null while there is none.'),
  })
  .meta({ id: 'Batch' });

export const BatchesPage = pageOf(Batch);
export const BatchResponse = dataOf(Batch);
export const CheckpointsPage = pageOf(Checkpoint);
export const CheckpointResponse = dataOf(Checkpoint);
export const TimestampsQuery = PageQuery;

export const BatchParams = z.object({
  number: numberInUrl(
    0,
    999_999_999_999_999,
    'must be a whole number without leading zeroes',
    CANONICAL_DIGITS,
  ).describe('Number of the batch, from 0 without gaps.'),
});
export const CheckpointParams = z.object({ size: TreeSize.describe('Size of the checkpoint.') });

export const TimestampStatusResponse = dataOf(
  z
    .object({
      unstamped_age_seconds: z
        .number()
        .nullable()
        .describe('Age in seconds of the tenant’s oldest consent that no time stamp covers, or null if there is none.'),
      unsealed_entries: z.int().describe('Entries of the tenant that are in no batch yet.'),
      unstamped_entries: z
        .int()
        .describe('Entries of the tenant that no time stamp covers yet, unsealed ones included.'),
      last_stamp: z
        .object({
          size: z.int().describe('Number of batches that the checkpoint covers.'),
          gen_time: Timestamp.describe('Time in the time stamp.'),
          authorities: z
            .array(z.string())
            .describe('Hosts of the authorities; `development` for the development authority.'),
        })
        .nullable()
        .describe('The newest time stamp, or null if there is none yet.'),
      authorities: z
        .array(z.string())
        .describe(
          'Hosts of the time stamp authorities, in the order in which they are asked; `development` for the development authority.',
        ),
      is_development: z
        .boolean()
        .describe('Whether the authority is the development authority, whose time stamps are no evidence.'),
    })
    .describe('The result.'),
);
