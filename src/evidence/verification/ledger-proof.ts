import { z } from 'zod';
import { hashesOfRanges, type LeafRange, nodesOfRanges } from '../../../schemas/merkle/proofs.js';
import type { Queryable } from '../../platform/database/pool.js';

const NodeRows = z.array(z.object({ level: z.int(), index: z.int(), hash: z.instanceof(Uint8Array) }));

/**
 * The hashes of a proof over the ledger tree, from its stored nodes.
 * @returns null if a node is missing
 */
export async function ledgerProof(db: Queryable, ranges: readonly LeafRange[]): Promise<readonly Uint8Array[] | null> {
  const nodes = nodesOfRanges(ranges);
  const { rows } = await db.query(
    `select n.level, n.index, n.hash from unnest($1::smallint[], $2::bigint[]) as w (level, index)
       join ledger_nodes n on n.level = w.level and n.index = w.index`,
    [nodes.map((node) => node.level), nodes.map((node) => node.index)],
  );
  const known = new Map(NodeRows.parse(rows).map(({ level, index, hash }) => [`${level}/${index}`, hash]));
  if (nodes.some(({ level, index }) => !known.has(`${level}/${index}`))) return null;
  return hashesOfRanges(ranges, ({ level, index }) => {
    const hash = known.get(`${level}/${index}`);
    if (hash === undefined) throw new RangeError('a tree node is missing');
    return hash;
  });
}
