import * as z from 'zod';
import { splitBytes } from '../../../schemas/crypto/encoding.js';
import { HASH_LENGTH } from '../../../schemas/merkle/hashing.js';
import { hashesOfRanges, inclusionRanges, type LeafRange, nodesOfRanges } from '../../../schemas/merkle/proofs.js';
import { Frontier, type TreeNode } from '../../../schemas/merkle/tree.js';
import type { Queryable } from '../../platform/database/pool.js';

/** The hash of a node of the ledger tree, 32 bytes, or undefined for a node that is not stored. */
export type FindNode = (node: TreeNode) => Uint8Array | undefined;

const NodeRows = z.array(z.object({ level: z.int(), index: z.int(), hash: z.instanceof(Uint8Array) }));

/** Reads nodes of the ledger tree in one statement. A node may be wanted several times. */
export async function readTreeNodes(db: Queryable, wanted: readonly TreeNode[]): Promise<FindNode> {
  const { rows } = await db.query({
    name: 'nodes of the ledger tree',
    text: `select n.level, n.index, n.hash from ledger_nodes n
       join (select distinct * from unnest($1::smallint[], $2::bigint[])) as wanted (level, index)
         on n.level = wanted.level and n.index = wanted.index`,
    values: [wanted.map((node) => node.level), wanted.map((node) => node.index)],
  });
  const hashes = new Map(NodeRows.parse(rows).map((row) => [nodeKey(row), new Uint8Array(row.hash)]));
  return (node) => hashes.get(nodeKey(node));
}

/**
 * The hashes of a proof over the ledger tree (RFC 9162 §2.1.3, §2.1.4), from its stored nodes.
 * @param ranges the subtrees of the proof, in the order of the proof
 * @returns null if a node is not stored
 */
export async function readTreeProof(
  db: Queryable,
  ranges: readonly LeafRange[],
): Promise<readonly Uint8Array[] | null> {
  const wanted = nodesOfRanges(ranges);
  const find = await readTreeNodes(db, wanted);
  if (wanted.some((node) => find(node) === undefined)) return null;
  return hashesOfRanges(ranges, (node) => {
    const hash = find(node);
    if (hash === undefined) throw new RangeError(`node ${nodeKey(node)} of the ledger tree is missing`);
    return hash;
  });
}

function nodeKey({ level, index }: TreeNode): string {
  return `${level}/${index}`;
}

/** The tree over the leaves of a Merkle batch. */
export interface BatchTree {
  /** 32 bytes. */
  readonly root: Uint8Array;
  /** The roots of its perfect subtrees from level 1, 32 bytes each: level by level, each from the left. */
  readonly nodes: Uint8Array;
}

/** Computes the tree over leaf hashes in order (RFC 9162 §2.1.1). */
export function batchTree(leaves: readonly Uint8Array[]): BatchTree {
  const nodes = new Uint8Array(placeOf({ level: 64, index: 0 }, leaves.length) * HASH_LENGTH);
  const frontier = new Frontier();
  for (const leaf of leaves) {
    for (const node of frontier.append(leaf)) {
      if (node.level > 0) nodes.set(node.hash, placeOf(node, leaves.length) * HASH_LENGTH);
    }
  }
  return { root: frontier.root(), nodes };
}

/** Returns the index of an inner node among those of a batch of `count` leaves. */
function placeOf({ level, index }: TreeNode, count: number): number {
  let place = index;
  let width = Math.floor(count / 2);
  for (let below = 1; below < level && width > 0; below += 1) {
    place += width;
    width = Math.floor(width / 2);
  }
  return place;
}

/** Maximum number of leaves whose nodes fit into one PostgreSQL value, which has at most 1 GiB. */
const MAX_COUNT = 2 ** 30 / HASH_LENGTH;

const Rows = z.array(z.object({ level: z.int(), index: z.int(), hash: z.instanceof(Uint8Array) }));

/**
 * Reads the audit path of a leaf from the stored nodes of its batch, O(log n). The nodes are not
 * verified: the caller checks that the path leads to the root.
 * @param index index of the leaf in the batch
 * @param count leaves of the batch
 * @returns the path from the leaf's sibling upwards, or null if a node is not stored
 */
export async function readBatchPath(
  db: Queryable,
  batch: number,
  index: number,
  count: number,
): Promise<readonly Uint8Array[] | null> {
  // No stored batch can be this large, so its number of leaves was altered.
  if (index >= count || count > MAX_COUNT) return null;
  const ranges = inclusionRanges(index, count);
  const wanted = nodesOfRanges(ranges);
  const { rows } = await db.query({
    name: 'path in a batch',
    text: `select w.level, w.index, substring(case w.level when 0 then b.leaves else b.nodes end from w.first for $5) as hash
       from batches b, unnest($2::int[], $3::int[], $4::int[]) as w (level, index, first) where b.number = $1`,
    values: [
      batch,
      wanted.map(({ level }) => level),
      wanted.map((node) => node.index),
      wanted.map((node) => (node.level === 0 ? node.index : placeOf(node, count)) * HASH_LENGTH + 1),
      HASH_LENGTH,
    ],
  });
  const hashes = new Map(Rows.parse(rows).map((row) => [`${row.level}/${row.index}`, new Uint8Array(row.hash)]));
  const find = (node: TreeNode): Uint8Array | undefined => hashes.get(`${node.level}/${node.index}`);
  if (wanted.some((node) => find(node)?.length !== HASH_LENGTH)) return null;
  return hashesOfRanges(ranges, (node) => find(node) ?? new Uint8Array(HASH_LENGTH));
}

const LeavesRows = z.array(z.object({ leaves: z.instanceof(Uint8Array) }));

/** Reads the leaf hashes of a Merkle batch in order. @returns null if any is missing, or the batch is not stored */
export async function readBatchLeaves(db: Queryable, batch: number): Promise<readonly Uint8Array[] | null> {
  const { rows } = await db.query('select leaves from batches where number = $1', [batch]);
  const [row] = LeavesRows.parse(rows);
  return row === undefined ? null : splitBytes(row.leaves, HASH_LENGTH);
}
