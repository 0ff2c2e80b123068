import * as z from 'zod';
import { hashesOfRanges, type LeafRange, nodesOfRanges } from '../../../schemas/merkle/proofs.js';
import type { TreeNode } from '../../../schemas/merkle/tree.js';
import type { Queryable } from '../../platform/database/pool.js';

/** The hash of a node of the ledger tree, 32 bytes; undefined for a node that is not stored. */
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
