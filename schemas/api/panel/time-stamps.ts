import { z } from 'zod';
import { Sha256Hex } from '../../evidence/primitives.js';
import { TreeSize } from '../checkpoints.js';
import { dataOf, PageQuery, pageOf, Timestamp } from './common.js';

const PublicLinks = { note: z.string(), token: z.string() };

const Checkpoint = z.object({
  /** Number of batches that it covers: those below. */
  size: z.int(),
  /** Of the ledger tree. */
  root: Sha256Hex,
  /** What the time-stamp token says. */
  gen_time: Timestamp,
  /** Host of the authority; `development` for the development authority. */
  authority: z.string(),
  /** When the first of the certificates gathered with the token ends; null where none was. */
  certificates_expire_at: Timestamp.nullable(),
  /** Paths of the public downloads, for everybody. */
  ...PublicLinks,
});

/** A batch that holds an entry of the tenant's. */
const Batch = z.object({
  number: z.int(),
  sealed_at: Timestamp,
  /** Entries of the tenant's sites. Consents: erasures included. */
  own_entries: z.object({ consents: z.int(), notices: z.int() }),
  /** Of the batch tree, which holds entries of other tenants too. */
  root: Sha256Hex,
  /** JCS text, as in an evidence package: its UTF-8 is the content of leaf `number` of the ledger tree. */
  header: z.string(),
  /** The first stamped checkpoint that covers it; null while there is none. */
  checkpoint: z.object({ size: z.int(), gen_time: Timestamp, ...PublicLinks }).nullable(),
});

export const BatchesPage = pageOf(Batch);
export const BatchResponse = dataOf(Batch);
export const CheckpointsPage = pageOf(Checkpoint);
export const CheckpointResponse = dataOf(Checkpoint);
export const TimeStampsQuery = PageQuery;

export const BatchParams = z.object({
  number: z
    .string()
    .regex(/^(?:0|[1-9]\d{0,14})$/, 'must be a number')
    .transform(Number),
});
export const CheckpointParams = z.object({ size: TreeSize });

export const TimeStampStatusResponse = dataOf(
  z.object({
    /** Age of the tenant's oldest consent that no time stamp covers; null: there is none. */
    unstamped_age_seconds: z.number().nullable(),
    /** Entries of the tenant that are in no batch yet. */
    unsealed_entries: z.int(),
    /** Entries of the tenant that no time stamp covers yet, unsealed ones included. */
    unstamped_entries: z.int(),
    last_stamp: z.object({ size: z.int(), gen_time: Timestamp, authority: z.string() }).nullable(),
    /** Hosts of the authorities that are asked, in this order; `development` where only the development authority is. */
    authorities: z.array(z.string()),
    /** A development authority proves nothing to anybody else. */
    is_development: z.boolean(),
  }),
);
