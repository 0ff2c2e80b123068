import * as z from 'zod';
import { concatBytes, utf8 } from '../../../schemas/crypto/encoding.js';
import { entryBundle } from '../../../schemas/evidence/structure-file.js';
import { isTileOf, nodesOfTile, TILE_WIDTH, type TilePlace } from '../../../schemas/merkle/tiles.js';
import { readTreeNodes } from '../../pipeline/ledger/batch-nodes.js';
import type { Queryable } from '../../platform/database/pool.js';

/**
 * Reads a tile of the ledger tree (c2sp.org/tlog-tiles).
 * @param level of the tile, from 0
 * @param size size of the tree that is published
 * @returns its hashes, 32 bytes each; null if a tree of this size does not have it
 * @throws Error if a node is not stored
 */
export async function readTile(
  db: Queryable,
  level: number,
  place: TilePlace,
  size: number,
): Promise<Uint8Array | null> {
  if (!isTileOf(level, place, size)) return null;
  const nodes = nodesOfTile(level, place);
  const find = await readTreeNodes(db, nodes);
  return concatBytes(
    ...nodes.map((node) => {
      const hash = find(node);
      if (hash === undefined) throw new Error('a node of the ledger tree is missing');
      return hash;
    }),
  );
}

const HeaderRows = z.array(z.object({ header: z.string() }));

/**
 * Reads a bundle of entries: the texts of headers.
 * @returns null if a tree of this size does not have it
 * @throws Error if a header is not stored
 */
export async function readEntryBundle(db: Queryable, place: TilePlace, size: number): Promise<Uint8Array | null> {
  if (!isTileOf(0, place, size)) return null;
  const first = place.index * TILE_WIDTH;
  const { rows } = await db.query(
    'select header from batches where number >= $1 and number < $2 order by number limit $3',
    [first, first + place.width, TILE_WIDTH],
  );
  const headers = HeaderRows.parse(rows);
  if (headers.length !== place.width) throw new Error('the header of a batch is missing');
  return entryBundle(headers.map(({ header }) => utf8(header)));
}
