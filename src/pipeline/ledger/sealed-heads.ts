import * as z from 'zod';
import { equalBytes, fromHex, toHex } from '../../../schemas/crypto/encoding.js';
import { BatchHeader, batchLeaf } from '../../../schemas/evidence/batch-header.js';
import { inclusionRanges } from '../../../schemas/merkle/proofs.js';
import { verifyInclusion } from '../../../schemas/merkle/verify-inclusion.js';
import type { Queryable } from '../../platform/database/pool.js';
import { readBatchPath, readTreeProof } from './batch-nodes.js';
import { TablesDiffer } from './errors.js';
import { type LedgerTree, NOTHING_SEALED, rootOf, type SealedHeads, type StreamHead } from './ledger-state.js';

const Bytes = z.instanceof(Uint8Array);
const HeadRows = z.array(
  z.object({
    stream: z.string(),
    stated: z.int().nullable(),
    stated_leaf: Bytes.nullable(),
    revision: z.int().nullable(),
    hash: Bytes.nullable(),
    batch: z.int().nullable(),
    index: z.int().nullable(),
    header: z.string().nullable(),
  }),
);

/**
 * Returns the last sealed event of each stream. The tables only say where to look. A stored leaf counts if its path
 * leads through its batch to the root of the ledger tree, which comes from the log.
 * @param ledger the ledger at the revision that the tables have
 * @throws TablesDiffer if a row contradicts the ledger
 */
export async function readSealedHeads(
  db: Queryable,
  { tree, heads }: { readonly tree: LedgerTree; readonly heads: SealedHeads },
  streams: readonly string[],
): Promise<ReadonlyMap<string, StreamHead>> {
  const unknown = streams.filter((stream) => heads.get(stream) === undefined);
  if (unknown.length > 0) {
    const { rows } = await db.query(
      `select w.stream, s.revision as stated, s.leaf as stated_leaf, l.revision, l.batch, l.index, b.header,
              substring(b.leaves from l.index * 32 + 1 for 32) as hash
         from unnest($1::text[]) as w (stream)
         left join sealed_streams s on s.stream = w.stream
         left join lateral (select e.revision, e.batch, e.index from sealed_events e where e.stream = s.number
                             order by e.stream desc, e.revision desc limit 1) l on true
         left join batches b on b.number = l.batch`,
      [unknown],
    );
    const sound = new Set<string>();
    for (const row of HeadRows.parse(rows)) heads.set(row.stream, await verifiedHead(db, tree, row, sound));
  }
  return new Map(streams.map((stream) => [stream, heads.get(stream) ?? NOTHING_SEALED]));
}

async function verifiedHead(
  db: Queryable,
  tree: LedgerTree,
  row: z.infer<typeof HeadRows>[number],
  sound: Set<string>,
): Promise<StreamHead> {
  const { stream, stated, stated_leaf: statedLeaf, revision, hash, batch, index, header } = row;
  if (stated === null && revision === null) return NOTHING_SEALED;
  const isWhole = hash !== null && batch !== null && index !== null && header !== null && statedLeaf !== null;
  if (!isWhole || revision === null || stated !== revision || !equalBytes(statedLeaf, hash))
    throw new TablesDiffer('sealed_streams', stream, `the newest row of leaves has revision ${revision ?? -1}`);
  await assertLeafSealed(db, tree, { stream, revision, hash, batch, index, header }, sound);
  return { revision, leaf: toHex(hash) };
}

/** A row of the table `leaves`, with the header of its batch. */
export interface StoredLeaf {
  readonly stream: string;
  readonly revision: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  readonly batch: number;
  readonly index: number;
  readonly header: string;
}

/**
 * Checks that a stored leaf leads through its batch to the root of the ledger tree.
 * @param sound headers that were already found in the ledger tree; this function adds to them
 * @throws TablesDiffer
 */
export async function assertLeafSealed(
  db: Queryable,
  tree: LedgerTree,
  { stream, revision, hash, batch, index, header }: StoredLeaf,
  sound: Set<string>,
): Promise<void> {
  if (!sound.has(header)) await assertInTree(db, tree, batch, header);
  sound.add(header);
  const { root, count } = BatchHeader.parse(JSON.parse(header));
  const path = root === null ? null : await readBatchPath(db, batch, index, count);
  if (root === null || path === null || !verifyInclusion(index, count, hash, path, fromHex(root) ?? hash).ok)
    throw new TablesDiffer('leaves', `${stream} ${revision}`, 'the leaf is not in its batch');
}

/** Checks that a stored header is the leaf of its number in the ledger tree. @throws TablesDiffer */
async function assertInTree(db: Queryable, tree: LedgerTree, number: number, header: string): Promise<void> {
  const path = await readTreeProof(db, inclusionRanges(number, tree.size));
  if (path !== null && verifyInclusion(number, tree.size, batchLeaf(header), path, rootOf(tree)).ok) return;
  throw new TablesDiffer('batches', String(number), 'the header is not in the ledger tree, or the tree is not whole');
}
