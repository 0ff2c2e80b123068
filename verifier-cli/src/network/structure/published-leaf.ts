import { toHex } from '../../../../schemas/crypto/encoding.js';
import { type BatchHeader, runLeaf } from '../../../../schemas/evidence/batch-header.js';
import { personTagLeaf } from '../../../../schemas/evidence/person-tag.js';
import {
  type FiledRun,
  KEY_BYTES,
  parseRun,
  RUN_BYTES,
  STRUCTURE_FILES,
  structureLength,
} from '../../../../schemas/evidence/structure-file.js';
import { Frontier } from '../../../../schemas/merkle/tree.js';
import type { StructureSource } from './source.js';

/** Gets the runs and tags of a file in order. */
export interface LeafContent {
  /** @param leaf hash under `streams_root`; `start` is where the previous run ends */
  readonly run?: (run: FiledRun & { readonly start: number }, index: number, leaf: Uint8Array) => void;
  /** @param leaf hash under `tags_root` */
  readonly tag?: (tag: Uint8Array, index: number, leaf: Uint8Array) => void;
}

/** Reads runs and tags from bytes that come in pieces, and computes both roots. */
export class LeafReader {
  readonly #streams = new Frontier();
  readonly #tags = new Frontier();
  readonly #rest = new Uint8Array(RUN_BYTES);
  #held = 0;
  #end = 0;
  #isWrong = false;

  constructor(
    readonly header: BatchHeader,
    readonly content: LeafContent,
  ) {}

  /** The numbers of entries of the runs so far. */
  get count(): number {
    return this.#end;
  }

  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && !this.#isWrong; ) {
      const length = this.#streams.size < this.header.streams_count ? RUN_BYTES : KEY_BYTES;
      if (this.#held === 0 && bytes.length - at >= length) {
        this.#record(bytes.subarray(at, at + length));
        at += length;
        continue;
      }
      const some = Math.min(length - this.#held, bytes.length - at);
      this.#rest.set(bytes.subarray(at, at + some), this.#held);
      this.#held += some;
      at += some;
      if (this.#held < length) continue;
      this.#held = 0;
      this.#record(this.#rest.slice(0, length));
    }
  }

  #record(bytes: Uint8Array): void {
    if (bytes.length === KEY_BYTES) {
      const leaf = personTagLeaf(bytes);
      this.content.tag?.(bytes, this.#tags.size, leaf);
      this.#tags.append(leaf);
      this.#isWrong = this.#tags.size > this.header.tags_count;
      return;
    }
    const run = parseRun(bytes);
    const start = this.#end;
    this.#end = run === null ? Number.NaN : start + run.last - run.first + 1;
    if (run === null || !Number.isSafeInteger(this.#end)) {
      this.#isWrong = true;
      return;
    }
    const leaf = runLeaf(run.key, { start, first: run.first, last: run.last });
    this.content.run?.({ ...run, start }, this.#streams.size, leaf);
    this.#streams.append(leaf);
  }

  /** Whether the bytes are exactly those to which the header commits. */
  isRight(): boolean {
    const { streams_count: runs, streams_root: streamsRoot, tags_count: tags, tags_root: tagsRoot } = this.header;
    return (
      !this.#isWrong &&
      this.#held === 0 &&
      this.#streams.size === runs &&
      this.#tags.size === tags &&
      toHex(this.#streams.root()) === streamsRoot &&
      toHex(this.#tags.root()) === tagsRoot
    );
  }
}

/**
 * Reads the published file of a leaf.
 * @returns null if it is right; otherwise what is wrong with it
 * @throws Unreachable
 */
export async function readPublishedLeaf(
  source: StructureSource,
  header: BatchHeader,
  content: LeafContent & { readonly bytes?: (bytes: Uint8Array) => void },
): Promise<string | null> {
  const file = `the file ${STRUCTURE_FILES.structure(header.number)}`;
  const opened = await source.open(STRUCTURE_FILES.structure(header.number));
  if (opened === null) return `${file} is not published`;
  const most = structureLength(header);
  const reader = new LeafReader(header, content);
  let length = 0;
  for await (const bytes of opened) {
    length += bytes.length;
    if (length > most) break;
    reader.add(bytes);
    content.bytes?.(bytes);
  }
  if (length !== most) return `${file} ${length > most ? 'is longer' : 'is shorter'} than its header states`;
  return reader.isRight() ? null : `${file} is not what its header commits to`;
}
