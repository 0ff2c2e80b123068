import { decodeUtf8 } from '../../../../schemas/crypto/encoding.js';
import { parseEntryBundle, STRUCTURE_FILES } from '../../../../schemas/evidence/structure-file.js';
import { HASH_LENGTH } from '../../../../schemas/merkle/hashing.js';
import {
  consistencyRanges,
  hashesOfRanges,
  inclusionRanges,
  nodesOfRanges,
} from '../../../../schemas/merkle/proofs.js';
import { placeOfNode, TILE_WIDTH, type TilePlace, tileIn } from '../../../../schemas/merkle/tiles.js';
import { foldFrontier, type TreeNode } from '../../../../schemas/merkle/tree.js';
import { readWhole, type StructureSource } from './source.js';

/** A bundle has at most 256 entries of at most 65,535 bytes, each after two bytes. */
const MAX_BUNDLE_BYTES = TILE_WIDTH * 65_537;
/** Tiles that are kept in memory: two at each level. */
const MAX_TILES = 64;

/** The published files lack what a checkpoint commits to. */
export class Withheld extends Error {
  override readonly name = 'Withheld';
}

/** The tiles of a ledger tree at one size (c2sp.org/tlog-tiles), unverified. */
export class TiledLog {
  readonly #tiles = new Map<string, Uint8Array>();

  constructor(
    readonly source: StructureSource,
    /** Size of the tree, as a checkpoint states it. */
    readonly size: number,
  ) {}

  /** The audit path of a leaf. @throws Withheld, Unreachable */
  inclusion(number: number): Promise<readonly Uint8Array[]> {
    return this.#proof(inclusionRanges(number, this.size));
  }

  /** The consistency proof from a smaller size. @throws Withheld, Unreachable */
  consistency(from: number): Promise<readonly Uint8Array[]> {
    return this.#proof(consistencyRanges(from, this.size));
  }

  async #proof(ranges: Parameters<typeof nodesOfRanges>[0]): Promise<readonly Uint8Array[]> {
    const found = new Map<string, Uint8Array>();
    const nameOf = ({ level, index }: TreeNode): string => `${level}/${index}`;
    for (const node of nodesOfRanges(ranges)) found.set(nameOf(node), await this.#node(node));
    return hashesOfRanges(ranges, (node) => found.get(nameOf(node)) ?? new Uint8Array());
  }

  async #node(node: TreeNode): Promise<Uint8Array> {
    const { level, index, from, to } = placeOfNode(node);
    const tile = await this.tile(level, index);
    const hashes = Array.from({ length: to - from }, (_, i) =>
      tile.subarray((from + i) * HASH_LENGTH, (from + i + 1) * HASH_LENGTH),
    );
    // The halves of a perfect subtree are also perfect.
    let row = hashes;
    while (row.length > 1)
      row = Array.from({ length: row.length / 2 }, (_, i) => foldFrontier(row.slice(2 * i, 2 * i + 2)));
    const [root] = row;
    if (root?.length !== HASH_LENGTH) throw new Withheld(`the tile ${level}/${index} is too short`);
    return root;
  }

  /**
   * The hashes of a tile, one after the other. There are at least as many as the tree has at this place.
   * @throws Withheld, Unreachable
   */
  async tile(level: number, index: number): Promise<Uint8Array> {
    const name = `${level}/${index}`;
    const known = this.#tiles.get(name);
    if (known !== undefined) return known;
    const place = tileIn(level, index, this.size);
    if (place === null) throw new Withheld(`a tree of ${this.size} leaves has no tile ${name}`);
    const tile = await this.#read(place, (one) => STRUCTURE_FILES.tile(level, one), TILE_WIDTH * HASH_LENGTH);
    if (tile === null || tile.length < place.width * HASH_LENGTH)
      throw new Withheld(`the tile ${name} is not published`);
    if (this.#tiles.size >= MAX_TILES) this.#tiles.clear();
    this.#tiles.set(name, tile);
    return tile;
  }

  /**
   * The entries of a bundle, as far as the tree has them.
   * @param index index of the bundle
   * @throws Withheld, Unreachable
   */
  async entries(index: number): Promise<readonly string[]> {
    const place = tileIn(0, index, this.size);
    if (place === null) return [];
    const name = `the bundle of entries ${index}`;
    const bytes = await this.#read(place, STRUCTURE_FILES.entries, MAX_BUNDLE_BYTES);
    if (bytes === null) throw new Withheld(`${name} is not published`);
    const entries = parseEntryBundle(bytes, place.width) ?? parseEntryBundle(bytes, TILE_WIDTH);
    const texts = entries?.slice(0, place.width).map(decodeUtf8);
    if (texts === undefined || texts.includes(null)) throw new Withheld(`${name} is malformed`);
    return texts.flatMap((text) => text ?? []);
  }

  /** A partial tile may be replaced by the full one as soon as the log has it. */
  async #read(place: TilePlace, pathOf: (place: TilePlace) => string, maxBytes: number): Promise<Uint8Array | null> {
    const exact = await readWhole(this.source, pathOf(place), maxBytes);
    if (exact !== null || place.width === TILE_WIDTH) return exact;
    return readWhole(this.source, pathOf({ ...place, width: TILE_WIDTH }), maxBytes);
  }
}
