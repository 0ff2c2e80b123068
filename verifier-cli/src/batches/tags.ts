import { equalBytes, fromHex } from '../../../schemas/crypto/encoding.js';
import { PACKAGE_FILES, TagLine } from '../../../schemas/evidence/package-lines.js';
import { PERSON_TAG_BYTES } from '../../../schemas/evidence/person-tag.js';
import { PROOF_LIMITS } from '../../../schemas/evidence/proof-limits.js';
import { readTagLine } from '../../../schemas/evidence/tag-line.js';
import { Cursor } from '../../../schemas/json/cursor.js';
import { areAdjacent, rootOfShownLeaves } from '../../../schemas/merkle/shown-leaves.js';
import { LIMITS } from '../container/limits.js';
import type { LineBlock } from '../files/lines.js';
import { type PackageFiles, type Read, readerOf } from '../files/package-files.js';
import { type Finding, finding } from '../findings/finding.js';
import type { Batches } from './batches.js';
import { FileCache } from './file-cache.js';
import { HashList } from './hash-list.js';

/** The tags that are proved to be in a batch or roll-up with their indexes, or why none are. */
type ProvedTags =
  | {
      readonly kind: 'tags';
      readonly tags: HashList;
      readonly indexes: Float64Array;
      readonly bytes: number;
    }
  | { readonly kind: 'none'; readonly reason: Finding; readonly bytes: number };

/** Number of bytes of a file in addition to its tags. */
const OVERHEAD = 100;
const NO_TAG = new Uint8Array(PERSON_TAG_BYTES);

/** Whether a package shows that a tag is in a batch or roll-up. */
export type TagPlace = 'present' | 'absent' | 'unproved' | 'unknown-version';

/** Looks up tags in batches and roll-ups (`FileCache`). */
export class TagCache {
  readonly #cache: FileCache<ProvedTags>;

  constructor(
    readonly files: PackageFiles,
    readonly batches: Batches,
  ) {
    this.#cache = new FileCache(files, {
      nameOf: PACKAGE_FILES.tags,
      read: (number) => this.#read(number),
      refused: none,
      bytes: PROOF_LIMITS.tagBytes,
      loads: LIMITS.tagLoads,
      fileBytes: PROOF_LIMITS.fileBytes,
      texts: {
        tooOften: finding('tags-read-too-often'),
        tooMany: finding('tags-too-large'),
        tooLarge: finding('tag-file-too-large'),
      },
    });
  }

  isAtHand(number: number): boolean {
    return this.#cache.peek(number) !== undefined || !this.#isUsable(number);
  }

  /** Reads the tags of batches and roll-ups that are needed together. */
  async load(...numbers: readonly number[]): Promise<void> {
    await this.#cache.load(...numbers.filter((number) => this.#isUsable(number)));
  }

  /** Reads the files that no check has needed so far: an invalid file is invalid even if nothing depends on it. */
  async loadOthers(): Promise<void> {
    for (const name of this.files.archive.keys()) {
      const [, number] = /^tags\/(\d+)\.ndjson$/.exec(name) ?? [];
      if (number !== undefined && !this.#cache.wasRead(Number(number))) await this.load(Number(number));
    }
  }

  /**
   * @param number number of a loaded batch or roll-up
   * @param tag the tag in hex
   * @returns null if the tag is proved to be in it, otherwise why not
   */
  problemOf(number: number, tag: string): Finding | null {
    if (!this.batches.has(number)) return finding('covering-batch-missing', { batch: number });
    if (!this.#isUsable(number)) return null;
    const proved = this.#cache.peek(number);
    if (proved === undefined) throw new RangeError(`the tags of batch ${number} are not loaded`);
    if (proved.kind === 'none') return finding('tags-of-batch', { reason: proved.reason, batch: number });
    const { isThere } = placeOf(proved, bytesOf(tag));
    return isThere ? null : finding('tag-missing', { batch: number });
  }

  /** Returns whether a tag is in a batch or roll-up whose tags are loaded. @param tag 32 bytes */
  placeOf(number: number, tag: Uint8Array): TagPlace {
    if (this.batches.unknown.has(number)) return 'unknown-version';
    const batch = this.batches.get(number);
    if (batch === undefined || !this.#isUsable(number)) return 'unproved';
    const count = batch.header.tags_count;
    if (count === 0) return 'absent';
    const proved = this.#cache.peek(number);
    if (proved === undefined || proved.kind === 'none') return 'unproved';
    const { at, isThere } = placeOf(proved, tag);
    if (isThere) return 'present';
    return areAdjacent(proved.indexes[at - 1], proved.indexes[at], count) ? 'absent' : 'unproved';
  }

  /** Returns whether a batch may be relied on. One that failed its checks proves nothing. */
  #isUsable(number: number): boolean {
    const batch = this.batches.get(number);
    return batch !== undefined && batch.verdict !== 'invalid';
  }

  async #read(number: number): Promise<ProvedTags> {
    const batch = this.batches.get(number);
    const file = PACKAGE_FILES.tags(number);
    if (batch === undefined || !this.files.has(file)) return none(finding('tags-not-shown'));
    const { header, scheme } = batch;
    const tags = new HashList();
    const indexes: number[] = [];
    const hashes = new HashList();
    let isOrdered = true;
    let last: Uint8Array | null = null;
    for await (const block of this.files.blocks(file, readLine, 'batch.tags')) {
      for (const { value } of block) {
        if ('hash' in value) hashes.push(value.hash);
        else {
          isOrdered &&= hashes.length === 0 && (last === null || compareBytes(last, value.tag) < 0);
          last = value.tag;
          tags.push(value.tag);
          indexes.push(value.index);
        }
      }
    }
    const shown = {
      length: tags.length,
      placeAt: (position: number) => indexes[position],
      hashAt: (position: number) => scheme.tagLeaf(tags.at(position) ?? NO_TAG),
    };
    const root = rootOfShownLeaves(header.tags_count, shown, hashes);
    const isEmpty = header.tags_count === 0;
    if (isEmpty || !isOrdered || root === null || !equalBytes(root, bytesOf(header.tags_root))) {
      this.files.findings.fail('batch.tags', finding('tags-out-of-order'), { file });
      return none(finding('tags-root-wrong'));
    }
    tags.trim();
    const packed = Float64Array.from(indexes);
    return { kind: 'tags', tags, indexes: packed, bytes: tags.byteLength + packed.byteLength + OVERHEAD };
  }
}

const bySchema = readerOf(TagLine);

function readLine(block: LineBlock, start: number, end: number): Read<TagLine> {
  const value = readTagLine(new Cursor(block.bytes, block.text, start, end));
  return value === null ? bySchema(block, start, end) : { ok: true, value };
}

function none(reason: Finding): ProvedTags {
  return { kind: 'none', reason, bytes: OVERHEAD };
}

/** Returns the index of the first shown tag that is not below this one. */
function placeOf(
  { tags }: Extract<ProvedTags, { kind: 'tags' }>,
  tag: Uint8Array,
): { readonly at: number; readonly isThere: boolean } {
  const compared = (index: number): number => compareBytes(tags.at(index) ?? NO_TAG, tag);
  let low = 0;
  let high = tags.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (compared(middle) < 0) low = middle + 1;
    else high = middle;
  }
  return { at: low, isThere: low < tags.length && compared(low) === 0 };
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < PERSON_TAG_BYTES; i += 1) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Decodes text that is known to be hex. */
function bytesOf(hex: string): Uint8Array {
  return fromHex(hex) ?? new Uint8Array();
}
