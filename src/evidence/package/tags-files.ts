import { fromHex, toHex } from '../../../schemas/crypto/encoding.js';
import { BatchHeader, type RevisionRun } from '../../../schemas/evidence/batch-header.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { personTagLeaf } from '../../../schemas/evidence/person-tag.js';
import { PROOF_LIMITS } from '../../../schemas/evidence/proof-limits.js';
import { coverOf } from '../../../schemas/evidence/roll-ups.js';
import { ShownLeavesProof } from '../../../schemas/merkle/shown-leaves.js';
import { sortedTags } from '../../pipeline/ledger/batch-rules.js';
import { eachTag } from '../../pipeline/ledger/roll-up.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { EnclosedBatch } from './batches-file.js';
import { differ, ExportFailed } from './errors.js';
import { type BatchLeaf, batchOf, readBatches } from './ledger-reader.js';
import { EncodedLines, type FileSink } from './package-writer.js';

/** A tag that must be absent from every leaf of the ledger tree from a given number on. */
export interface AbsentTag {
  /** 32 bytes. */
  readonly tag: Uint8Array;
  /** Number of a batch. Leaves of the cover below this number need not show that the tag is absent. */
  readonly from: number;
}

/** Tags whose absence a package shows in the cover of its checkpoint. */
export class AbsentTags {
  readonly #sorted: readonly AbsentTag[];
  readonly #first: number;

  /** How often a verifier searches the cover: for the next record of the person, and for erasures. */
  readonly searches: number;

  /**
   * @param next the tag that the person's next record would have, at most one
   * @param erasures the tags that the erasures of the records would have
   * @param cover numbers of the leaves of the cover
   */
  constructor(
    next: readonly AbsentTag[],
    erasures: readonly AbsentTag[],
    readonly cover: ReadonlySet<number>,
  ) {
    const tags = [...next, ...erasures];
    this.searches = (next.length > 0 ? 1 : 0) + (erasures.length > 0 ? 1 : 0);
    this.#sorted = [...tags].sort((a, b) => Buffer.compare(a.tag, b.tag));
    this.#first = tags.reduce((first, { from }) => Math.min(first, from), Number.POSITIVE_INFINITY);
  }

  /** Whether a leaf of the ledger tree shows that a tag is absent. */
  concerns(number: number): boolean {
    return this.#first <= number && this.cover.has(number);
  }

  /** The tags whose absence a leaf shows, sorted. */
  of(number: number): readonly Uint8Array[] {
    if (!this.concerns(number)) return [];
    return this.#sorted.flatMap(({ tag, from }) => (from <= number ? [tag] : []));
  }
}

/**
 * Number of bytes of tag files that a verifier reads. A file that is read twice counts twice.
 * @param entryBytes size of `entries.ndjson`
 */
export function mostTagBytes(entryBytes: number): number {
  return PROOF_LIMITS.tagBytes + PROOF_LIMITS.bytesPerEntryByte * entryBytes;
}

/** Makes `tags/<number>.ndjson` for the batches and roll-ups of a package. */
export class TagsFiles {
  /** Indexes of the package's own leaves by batch, in increasing order. */
  readonly #own: ReadonlyMap<number, Uint32Array>;
  /** How many of the package's own tags are in the current period of each level of roll-up. */
  readonly #ofPeriod: Record<1 | 2, number> = { 1: 0, 2: 0 };
  #bytes = 0;

  /**
   * @param own indexes of the package's own leaves, by batch
   * @param mostBytes maximum number of bytes that a verifier reads
   */
  constructor(
    readonly db: Queryable,
    readonly writer: FileSink,
    readonly absent: AbsentTags,
    own: ReadonlyMap<number, readonly number[]>,
    readonly mostBytes: number,
  ) {
    this.#own = new Map([...own].map(([batch, indexes]) => [batch, Uint32Array.from(indexes).sort()]));
  }

  /**
   * Adds the file of a batch, if it needs one.
   * @param leaves all leaves of the batch
   */
  async addBatch(batch: EnclosedBatch, leaves: readonly BatchLeaf[]): Promise<void> {
    const tags = leaves.flatMap(({ tag }, index) =>
      tag === null ? [] : [{ tag, isOwn: this.#isOwn(batch.number, index) }],
    );
    const own = tags.filter(({ isOwn }) => isOwn).length;
    this.#ofPeriod[1] += own;
    this.#ofPeriod[2] += own;
    const file = this.#fileOf(batch, own);
    const isOwn = new Map(tags.map((one) => [one.tag, one.isOwn]));
    for (const tag of sortedTags(tags.map(({ tag }) => tag))) file.accept(tag, isOwn.get(tag) === true);
    await this.#add(batch, file, own);
  }

  /**
   * Adds the file of a roll-up, if it needs one. The batches that it covers must have been added
   * before.
   */
  async addRollUp(rollUp: EnclosedBatch): Promise<void> {
    const { level, number } = rollUp;
    if (level === 0) throw new RangeError(`${number} is not the number of a roll-up`);
    const own = this.#ofPeriod[level];
    const file = this.#fileOf(rollUp, own);
    this.#ofPeriod[1] = 0;
    if (level === 2) this.#ofPeriod[2] = 0;
    if (file.isNeeded)
      await eachTag(this.db, number, (tag, batch, index) => file.accept(tag, this.#isOwn(batch, index)));
    await this.#add(rollUp, file, own);
  }

  /** @param own how many of the package's own tags are in the roll-up */
  #fileOf({ number }: EnclosedBatch, own: number): TagsFile {
    return new TagsFile(own, this.absent.of(number));
  }

  #isOwn(batch: number, index: number): boolean {
    const indexes = this.#own.get(batch);
    return indexes !== undefined && isAmong(indexes, index);
  }

  async #add(batch: EnclosedBatch, file: TagsFile, own: number): Promise<void> {
    if (!file.isNeeded || batch.tagsCount === 0) return;
    const { chunks, bytes } = file.lines(batch).encoded();
    const reads = (own > 0 ? 1 : 0) + (this.absent.concerns(batch.number) ? this.absent.searches : 0);
    this.#bytes += bytes * reads;
    if (bytes > PROOF_LIMITS.fileBytes || this.#bytes > this.mostBytes) {
      throw new ExportFailed(
        'too-large',
        'The proofs about the tags of these records exceed a limit of the format. Choose fewer records or a shorter time range.',
      );
    }
    await this.writer.add(PACKAGE_FILES.tags(batch.number), chunks);
  }
}

/** @param sorted the values in increasing order */
function isAmong(sorted: Uint32Array, wanted: number): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? wanted) < wanted) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === wanted;
}

/** The lines of one file, collected in one pass over the tags of the tree in increasing order. */
class TagsFile {
  readonly #proof = new ShownLeavesProof();
  readonly #lines = new EncodedLines();
  /** How many of the package's own tags have been seen. */
  #passedOwn = 0;
  /** The previous tag. Whether it is shown depends on the next one. */
  #last: { readonly tag: Uint8Array; readonly isOwn: boolean } | null = null;
  /** How many absent tags are below the previous tag. */
  #below = 0;

  /**
   * @param own how many of the package's own tags are in the tree
   * @param absent sorted tags, none of which is in the tree
   */
  constructor(
    readonly own: number,
    readonly absent: readonly Uint8Array[],
  ) {}

  get isNeeded(): boolean {
    return this.own > 0 || this.absent.length > 0;
  }

  /** @param isOwn whether the package has the record of the tag */
  accept(tag: Uint8Array, isOwn: boolean): void {
    this.#pass(tag);
    this.#last = { tag, isOwn };
  }

  #pass(next: Uint8Array | null): void {
    if (this.#last === null) return;
    const { tag, isOwn } = this.#last;
    if (isOwn) this.#passedOwn += 1;
    const isShown = this.#isNeighbour(tag, next) || isOwn;
    if (isShown) this.#lines.add({ index: this.#proof.size, tag: toHex(tag) });
    this.#proof.append(personTagLeaf(tag), isShown);
  }

  /** Whether an absent tag is between this tag and the one before it, or the next one. */
  #isNeighbour(tag: Uint8Array, next: Uint8Array | null): boolean {
    const before = this.#below;
    for (
      let one = this.absent[before];
      one !== undefined && Buffer.compare(one, tag) < 0;
      one = this.absent[this.#below]
    )
      this.#below += 1;
    const following = this.absent[this.#below];
    return this.#below > before || (following !== undefined && (next === null || Buffer.compare(following, next) < 0));
  }

  /** @throws ExportFailed `log-and-ledger-differ` if the tags do not lead to the root */
  lines({ number, tagsCount, tagsRoot }: EnclosedBatch): EncodedLines {
    this.#pass(null);
    const root = fromHex(tagsRoot);
    const isRight = this.#proof.size === tagsCount && root !== null && Buffer.compare(this.#proof.root(), root) === 0;
    if (!isRight || this.#passedOwn !== this.own) differ(`the tags of batch ${number} do not lead to its root`);
    for (const hash of this.#proof.hashes()) this.#lines.add({ hash: toHex(hash) });
    return this.#lines;
  }
}

/** Approximate bytes of an entry with its proofs. */
const ENTRY_BYTES = 1_200;
/** Approximate maximum number of bytes with which a leaf of the cover shows that one tag is absent. */
const ABSENCE_BYTES = 1_700;
/** Number of bytes of a tag that is shown. */
const TAG_BYTES = 100;

/**
 * Decides how a package with a run of records shows that they are not erased: by the absence of their tags in each leaf
 * of the cover from their batch on, or by all events up to the end of the stream.
 * @param run a run of the consents stream, shorter than the stream
 * @param last last revision of the stream as of the checkpoint
 * @param size size of the checkpoint
 * @returns whether the first way needs fewer bytes
 */
export async function isAbsenceSmaller(db: Queryable, run: RevisionRun, last: number, size: number): Promise<boolean> {
  const first = await batchOf(db, run.stream, run.first);
  const cover = [...coverOf(size)].filter((number) => number >= first);
  const headers = await readBatches(db, cover);
  const tags = headers.map(({ header }) => BatchHeader.parse(JSON.parse(header)).tags_count);
  const records = run.last - run.first + 1;
  const inAll = tags.reduce((sum, count) => sum + absenceBytes(records, count), 0);
  const isWithinLimits =
    inAll <= mostTagBytes(records * ENTRY_BYTES) / 2 && tags.every((count) => fitsIntoFile(records, count));
  return isWithinLimits && inAll < (last - run.last) * ENTRY_BYTES;
}

/** Estimates whether the file of a leaf can hold all of its tags, or the proofs that this many tags are absent. */
function fitsIntoFile(records: number, tagsCount: number): boolean {
  return tagsCount * TAG_BYTES <= PROOF_LIMITS.fileBytes || records * ABSENCE_BYTES <= PROOF_LIMITS.fileBytes / 2;
}

/**
 * Estimates the number of bytes with which a leaf of the cover shows that tags are absent.
 * @param records number of tags
 * @param tagsCount number of tags in the leaf
 */
export function absenceBytes(records: number, tagsCount: number): number {
  return Math.min(tagsCount * TAG_BYTES, records * ABSENCE_BYTES);
}
