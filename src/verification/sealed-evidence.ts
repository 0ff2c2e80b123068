import type pg from 'pg';
import { z } from 'zod';

const Bytes = z.instanceof(Uint8Array);
const LeafRow = z.object({
  batch: z.int(),
  index: z.int(),
  stream: z.string(),
  revision: z.int(),
  event_id: z.string(),
  hash: Bytes,
});
export type LeafRow = z.infer<typeof LeafRow>;

const BatchRow = z.object({
  number: z.int(),
  header: z.string(),
  count: z.int(),
  root: Bytes,
  sealed_at: z.date(),
  node: Bytes.nullable(),
});

const HeadRow = z.object({ revision: z.int(), leaf: Bytes, leaf_hash: Bytes.nullable() });

const CheckpointRow = z.object({
  size: z.int(),
  note: z.string(),
  tsr: Bytes,
  tsr_sha256: z.string(),
  gen_time: z.date(),
});
export type CheckpointRow = z.infer<typeof CheckpointRow>;

/** What the tables say of where a record was sealed. None of it is proved yet. */
export interface SealedEvidence {
  /** How far the record's stream is sealed; null: not at all. */
  readonly head: z.infer<typeof HeadRow> | null;
  /** Every leaf at the record's place, or with its event id. */
  readonly claims: readonly LeafRow[];
  /** The leaf before it in its stream. */
  readonly previous: LeafRow | null;
  readonly batch: z.infer<typeof BatchRow> | null;
  /** The hashes of the batch's leaves in order; a gap is null. */
  readonly batchLeaves: readonly (Uint8Array | null)[];
  /** The smallest stamped checkpoint that covers the batch. */
  readonly checkpoint: CheckpointRow | null;
}

/** Reads them. @param client in a transaction of one snapshot */
export async function readSealedEvidence(
  client: pg.PoolClient,
  stream: string,
  revision: number,
  eventId: string,
): Promise<SealedEvidence> {
  const heads = await client.query(
    `select h.revision, h.leaf, l.hash as leaf_hash
       from sealed_streams h left join leaves l on l.stream = h.stream and l.revision = h.revision
      where h.stream = $1`,
    [stream],
  );
  const found = await client.query(
    `select batch, index, stream, revision, event_id, hash from leaves
      where (stream = $1 and revision between $2::bigint - 1 and $2) or event_id = $3`,
    [stream, revision, eventId],
  );
  const leaves = z.array(LeafRow).parse(found.rows);
  const isBefore = (leaf: LeafRow): boolean => leaf.stream === stream && leaf.revision === revision - 1;
  const claims = leaves.filter((leaf) => !isBefore(leaf) || leaf.event_id === eventId);
  const [claim] = claims;
  const sealed = claim === undefined ? NOT_SEALED : await readBatch(client, claim.batch);
  return {
    head: z.array(HeadRow).parse(heads.rows)[0] ?? null,
    claims,
    previous: leaves.find(isBefore) ?? null,
    ...sealed,
  };
}

const NOT_SEALED = { batch: null, batchLeaves: [], checkpoint: null } as const;

async function readBatch(client: pg.PoolClient, number: number) {
  const batches = await client.query(
    `select b.number, b.header, b.count, b.root, b.sealed_at, n.hash as node
       from batches b left join ledger_nodes n on n.level = 0 and n.index = b.number where b.number = $1`,
    [number],
  );
  const leaves = await client.query('select index, hash from leaves where batch = $1 order by index', [number]);
  const checkpoints = await client.query(
    'select size, note, tsr, tsr_sha256, gen_time from checkpoints where size > $1 order by size limit 1',
    [number],
  );
  const rows = z.array(z.object({ index: z.int(), hash: Bytes })).parse(leaves.rows);
  return {
    batch: z.array(BatchRow).parse(batches.rows)[0] ?? null,
    batchLeaves: rows.map(({ index, hash }, place) => (index === place ? hash : null)),
    checkpoint: z.array(CheckpointRow).parse(checkpoints.rows)[0] ?? null,
  };
}

/** Whether the event at a place of a stream is a known `SubjectErased`; null where that place is not sealed yet. */
export async function isErasureAt(client: pg.PoolClient, stream: string, revision: number): Promise<boolean | null> {
  const { rows } = await client.query(
    `select exists (select from erasure_events e where e.event_id = l.event_id) as is_erasure
       from leaves l where l.stream = $1 and l.revision = $2`,
    [stream, revision],
  );
  return z.array(z.object({ is_erasure: z.boolean() })).parse(rows)[0]?.is_erasure ?? null;
}
