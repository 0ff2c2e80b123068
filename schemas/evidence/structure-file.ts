import { concatBytes, uint64 } from '../crypto/encoding.js';
import { type TilePlace, tileNumber, tilePath } from '../merkle/tiles.js';
import type { BatchHeader } from './batch-header.js';

/*
 * The published structure of the ledger (docs/evidence-format.md §6): C2SP tiles of the ledger tree, and one file for
 * each of its leaves with the leaf's runs and tags in the order of their trees.
 */

/** Number of bytes of a run: key, first and last revision. Its `start` is the end of the previous run. */
export const RUN_BYTES = 48;
/** Number of bytes of a stream key and of a tag. */
export const KEY_BYTES = 32;

/** Paths of the published files, below `/checkpoints/`. The prefix of the tiled log is `/checkpoints/log`. */
export const STRUCTURE_FILES = {
  checkpoint: 'log/checkpoint',
  keys: 'keys',
  tile: (level: number, place: TilePlace) => `log/tile/${level}/${tilePath(place)}`,
  entries: (place: TilePlace) => `log/tile/entries/${tilePath(place)}`,
  /** @param number number of the leaf */
  structure: (number: number) => `log/structure/${tileNumber(number)}`,
} as const;

/** A run in a structure file. */
export interface FiledRun {
  /** Key of the stream, 32 bytes. */
  readonly key: Uint8Array;
  readonly first: number;
  readonly last: number;
}

/** Length of the file of a leaf, in bytes. */
export function structureLength({
  streams_count: runs,
  tags_count: tags,
}: Pick<BatchHeader, 'streams_count' | 'tags_count'>): number {
  return runs * RUN_BYTES + tags * KEY_BYTES;
}

/** A run as bytes: the key, then both revisions as 8 bytes each, big-endian. */
export function runBytes({ key, first, last }: FiledRun): Uint8Array {
  return concatBytes(key, uint64(first), uint64(last));
}

/**
 * Reads a run.
 * @param bytes 48 bytes
 * @returns null if a revision is beyond 2^53 − 1, or the run ends before it starts
 */
export function parseRun(bytes: Uint8Array): FiledRun | null {
  const first = numberAt(bytes, KEY_BYTES);
  const last = numberAt(bytes, KEY_BYTES + 8);
  return first > last || last > Number.MAX_SAFE_INTEGER ? null : { key: bytes.subarray(0, KEY_BYTES), first, last };
}

/** 8 bytes, big-endian, as a number: exact up to 2^53 − 1. */
export function numberAt(bytes: Uint8Array, offset: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, 8);
  return view.getUint32(0) * 2 ** 32 + view.getUint32(4);
}

/** Maximum number of bytes of an entry: its length is written as two bytes (c2sp.org/tlog-tiles). */
const MAX_ENTRY_BYTES = 0xffff;

/** Writes entries as a bundle. @throws RangeError for an entry that is too long */
export function entryBundle(entries: readonly Uint8Array[]): Uint8Array {
  return concatBytes(
    ...entries.flatMap((entry) => {
      if (entry.length > MAX_ENTRY_BYTES) throw new RangeError('an entry is too long for a bundle');
      return [Uint8Array.of(entry.length >> 8, entry.length & 0xff), entry];
    }),
  );
}

/** Reads a bundle. @returns null if it does not consist of exactly this number of entries */
export function parseEntryBundle(bytes: Uint8Array, count: number): readonly Uint8Array[] | null {
  const entries: Uint8Array[] = [];
  let at = 0;
  while (at + 2 <= bytes.length && entries.length < count) {
    const length = (bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0);
    if (at + 2 + length > bytes.length) return null;
    entries.push(bytes.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  return at === bytes.length && entries.length === count ? entries : null;
}
