import { equalBytes } from '../../../../schemas/crypto/encoding.js';
import { HASH_LENGTH } from '../../../../schemas/merkle/hashing.js';
import { placeOfNode, TILE_WIDTH, tileIn, tileNodes } from '../../../../schemas/merkle/tiles.js';
import { frontierNodes, treeRoot } from '../../../../schemas/merkle/tree.js';
import { Unreachable } from '../bounded-fetch.js';
import { Violation } from './claim.js';
import type { TiledLog } from './tiled-log.js';

export interface CompareTilesOptions {
  readonly log: TiledLog;
  /** Roots of the perfect subtrees of the tree at the size of the log, as an auditor computed them, largest first. */
  readonly frontier: readonly Uint8Array[];
  /** Number of leaves below which the full tiles were already compared. */
  readonly compared: number;
  /** Called for each tile. */
  readonly advanced?: (() => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Compares the published tiles of hashes (c2sp.org/tlog-tiles) with the tree that an auditor computed from the headers.
 * Others compute their proofs from the tiles; with an altered tile, the ledger would look rewritten to them, or they
 * would have no proofs. The partial tiles on the right lead to the subtrees of the frontier, and each hash in them to a
 * full tile of the level below.
 * @throws Violation for a tile with other hashes; Withheld; Unreachable
 */
export async function compareTiles(options: CompareTilesOptions): Promise<void> {
  const { log, frontier, compared } = options;
  const { size } = log;
  if (compared === size) return;
  const nodes = frontierNodes(size).map((node, i) => ({ ...placeOfNode(node), hash: frontier[i] ?? new Uint8Array() }));
  for (let level = 0; tileNodes(level, size) > 0; level += 1) {
    const index = Math.floor(tileNodes(level, size) / TILE_WIDTH);
    if (tileIn(level, index, size) === null) continue;
    const hashes = await hashesOf(options, level, index);
    const isRight = nodes.every(
      (node) => node.level !== level || equalBytes(treeRoot(hashes.slice(node.from, node.to)), node.hash),
    );
    if (!isRight) throw otherTile(log, level, index);
    await compareBelow(options, level, index, hashes);
  }
}

/** Compares the full tiles whose roots are the hashes of a tile. */
async function compareBelow(
  options: CompareTilesOptions,
  level: number,
  index: number,
  hashes: readonly Uint8Array[],
): Promise<void> {
  if (level === 0) return;
  for (const [place, root] of hashes.entries()) {
    const below = index * TILE_WIDTH + place;
    if ((below + 1) * TILE_WIDTH ** level <= options.compared) continue;
    const found = await hashesOf(options, level - 1, below);
    if (!equalBytes(treeRoot(found), root)) throw otherTile(options.log, level - 1, below);
    await compareBelow(options, level - 1, below, found);
  }
}

async function hashesOf(
  { log, advanced, signal }: CompareTilesOptions,
  level: number,
  index: number,
): Promise<readonly Uint8Array[]> {
  if (signal?.aborted === true) throw new Unreachable(`the audit was stopped at the tile ${level}/${index}`);
  const tile = await log.tile(level, index);
  advanced?.();
  const width = tileIn(level, index, log.size)?.width ?? 0;
  return Array.from({ length: width }, (_, i) => tile.subarray(i * HASH_LENGTH, (i + 1) * HASH_LENGTH));
}

function otherTile({ size }: TiledLog, level: number, index: number): Violation {
  return new Violation(`the tile ${level}/${index} is not what checkpoint ${size} commits to`, null);
}
