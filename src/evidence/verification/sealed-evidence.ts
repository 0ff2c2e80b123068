import * as z from 'zod';
import type { EventPlace } from '../../pipeline/event-log/port.js';
import { readBatchPath } from '../../pipeline/ledger/batch-nodes.js';
import { firstStamp } from '../../pipeline/ledger/read-checkpoints.js';
import type { Queryable } from '../../platform/database/pool.js';

const Bytes = z.instanceof(Uint8Array);
const LeafRow = z.object({
  batch: z.int(),
  index: z.int(),
  stream: z.string(),
  revision: z.int(),
  event_id: z.string(),
  hash: Bytes,
  person_tag: Bytes.nullable(),
});
export type LeafRow = z.infer<typeof LeafRow>;

const BatchRow = z.object({
  number: z.int(),
  header: z.string(),
  count: z.int(),
  root: Bytes.nullable(),
  sealed_at: z.date(),
  node: Bytes.nullable(),
});

const HeadRow = z.object({ revision: z.int(), leaf: Bytes, leaf_hash: Bytes.nullable() });

const CheckpointRow = z.object({
  size: z.int(),
  note: z.string(),
  gen_time: z.date(),
  tokens: z.int(),
});
const TokenRow = z.object({ tsr: Bytes, tsr_sha256: z.string(), gen_time: z.date() });
export type TokenRow = z.infer<typeof TokenRow>;

/** A stamped checkpoint with the stored rows of its time stamps. */
export interface StampedCheckpoint extends z.infer<typeof CheckpointRow> {
  readonly stored: readonly TokenRow[];
}

/** The stored data about the sealing of a record. None of it is verified yet. */
export interface SealedEvidence {
  /** The last sealed revision of the record's stream, or null if none is sealed. */
  readonly head: z.infer<typeof HeadRow> | null;
  /** Every leaf with the record's position or its event id. */
  readonly claims: readonly LeafRow[];
  /** The leaf of the previous revision in the stream. */
  readonly previous: LeafRow | null;
  readonly batch: z.infer<typeof BatchRow> | null;
  /** The leaf's audit path in the batch, from stored nodes, or null if one is missing. */
  readonly path: readonly Uint8Array[] | null;
  /** The smallest stamped checkpoint that covers the batch. */
  readonly checkpoint: StampedCheckpoint | null;
}

/**
 * Reads the stored data about the sealing of a record. @param db a handle in a transaction with one snapshot
 */
export async function readSealedEvidence(
  db: Queryable,
  { stream, revision }: EventPlace,
  eventId: string,
): Promise<SealedEvidence> {
  const heads = await db.query({
    name: 'head of a sealed stream',
    text: `select h.revision, h.leaf, l.hash as leaf_hash
       from sealed_streams h left join leaves l on l.stream = h.stream and l.revision = h.revision
      where h.stream = $1`,
    values: [stream],
  });
  const found = await db.query({
    name: 'leaves of a record',
    text: `select batch, index, stream, revision, event_id, hash, person_tag from leaves
      where (stream = $1 and revision between $2::bigint - 1 and $2) or event_id = $3`,
    values: [stream, revision, eventId],
  });
  const leaves = z.array(LeafRow).parse(found.rows);
  const isBefore = (leaf: LeafRow): boolean => leaf.stream === stream && leaf.revision === revision - 1;
  const claims = leaves.filter((leaf) => !isBefore(leaf) || leaf.event_id === eventId);
  const [claim] = claims;
  const sealed = claim === undefined ? NOT_SEALED : await readBatch(db, claim);
  return {
    head: z.array(HeadRow).parse(heads.rows)[0] ?? null,
    claims,
    previous: leaves.find(isBefore) ?? null,
    ...sealed,
  };
}

const NOT_SEALED = { batch: null, path: null, checkpoint: null } as const;

async function readBatch(db: Queryable, { batch: number, index }: LeafRow) {
  const batches = await db.query({
    name: 'batch of a record',
    text: `select b.number, b.header, b.count, b.root, b.sealed_at, n.hash as node
       from batches b left join ledger_nodes n on n.level = 0 and n.index = b.number where b.number = $1`,
    values: [number],
  });
  const batch = z.array(BatchRow).parse(batches.rows)[0] ?? null;
  return {
    batch,
    path: batch === null ? null : await readBatchPath(db, number, index, batch.count),
    checkpoint: await readCheckpoint(db, number),
  };
}

async function readCheckpoint(db: Queryable, batch: number): Promise<StampedCheckpoint | null> {
  const text = firstStamp('$1', 'size, note, gen_time, tokens');
  const checkpoints = await db.query({ name: 'first stamp of a batch', text, values: [batch] });
  const [row] = z.array(CheckpointRow).parse(checkpoints.rows);
  if (row === undefined) return null;
  const tokens = await db.query({
    name: 'tokens of a checkpoint',
    text: 'select tsr, tsr_sha256, gen_time from checkpoint_tokens where size = $1 order by number',
    values: [row.size],
  });
  return { ...row, stored: z.array(TokenRow).parse(tokens.rows) };
}
