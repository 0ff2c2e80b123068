import type { TreeNode } from './tree.js';

/*
 * Tiles of a tree as c2sp.org/tlog-tiles publishes them: concatenated hashes of one level, 256 in a full
 * tile. The levels of tiles are eight levels of the tree apart.
 */

/** Hashes of a full tile, and entries of a full bundle. */
export const TILE_WIDTH = 256;
/** Number of levels of the tree between two levels of tiles. */
const TILE_HEIGHT = 8;
/** Media type of tiles and bundles. */
export const TILE_TYPE = 'application/octet-stream';

/** A tile, or a bundle of entries: its place, and how many hashes or entries it has. */
export interface TilePlace {
  /** Place within its level, from 0. */
  readonly index: number;
  /** 1 to 256. */
  readonly width: number;
}

/** The number of a tile in a path: groups of three digits, all but the last with an `x`. */
export function tileNumber(index: number): string {
  const digits = String(index);
  const padded = digits.padStart(Math.ceil(digits.length / 3) * 3, '0');
  const groups = padded.match(/\d{3}/g) ?? [];
  return groups.map((group, i) => (i === groups.length - 1 ? group : `x${group}`)).join('/');
}

/** The path of a tile below its level, or of a bundle: with `.p/<width>` if it is partial. */
export function tilePath({ index, width }: TilePlace): string {
  return width === TILE_WIDTH ? tileNumber(index) : `${tileNumber(index)}.p/${width}`;
}

/** @returns null if the text is not exactly a path as `tileNumber` writes it */
export function parseTileNumber(text: string): number | null {
  if (!/^(?:x\d{3}\/){0,5}\d{3}$/.test(text)) return null;
  const index = Number(text.replaceAll(/[x/]/g, ''));
  return Number.isSafeInteger(index) && tileNumber(index) === text ? index : null;
}

/** @returns null if the text is not exactly a path as `tilePath` writes it */
export function parseTilePath(text: string): TilePlace | null {
  const [, number = '', digits] = /^(.*?)(?:\.p\/([1-9]\d{0,2}))?$/.exec(text) ?? [];
  const index = parseTileNumber(number);
  const width = digits === undefined ? TILE_WIDTH : Number(digits);
  if (index === null || width > TILE_WIDTH || (digits !== undefined && width === TILE_WIDTH)) return null;
  return { index, width };
}

/** The nodes of the tree that a tile has, in order. @param level level of the tile */
export function nodesOfTile(level: number, { index, width }: TilePlace): readonly TreeNode[] {
  return Array.from({ length: width }, (_, i) => ({ level: level * TILE_HEIGHT, index: index * TILE_WIDTH + i }));
}

/** How many nodes of a tile's level a tree of this size has. @param level level of the tile */
export function tileNodes(level: number, size: number): number {
  return Math.floor(size / TILE_WIDTH ** level);
}

/** Whether a tree of this size has the tile. @param level level of the tile */
export function isTileOf(level: number, { index, width }: TilePlace, size: number): boolean {
  return index * TILE_WIDTH + width <= tileNodes(level, size);
}

/** The tile at a place of a tree of this size, as wide as it is there, or null if the tree has none. */
export function tileIn(level: number, index: number, size: number): TilePlace | null {
  const width = Math.min(TILE_WIDTH, tileNodes(level, size) - index * TILE_WIDTH);
  return width > 0 ? { index, width } : null;
}

/** Place of a perfect subtree: the hashes [from, to) of a tile are its leaves. */
export interface SubtreePlace {
  /** Level of the tile. */
  readonly level: number;
  readonly index: number;
  readonly from: number;
  readonly to: number;
}

/** The place of a node of the tree. */
export function placeOfNode({ level, index }: TreeNode): SubtreePlace {
  const height = level % TILE_HEIGHT;
  const first = index * 2 ** height;
  const from = first % TILE_WIDTH;
  return {
    level: Math.floor(level / TILE_HEIGHT),
    index: Math.floor(first / TILE_WIDTH),
    from,
    to: from + 2 ** height,
  };
}
