import { fromHex, toHex } from '../../../schemas/crypto/encoding.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { personTagLeaf } from '../../../schemas/evidence/person-tag.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { ShownLeavesProof } from '../../../schemas/merkle/shown-leaves.js';
import { sortedTags } from '../../pipeline/ledger/person-tags.js';
import { eachTag } from '../../pipeline/ledger/roll-up.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { AbsentTags } from './absent-tags.js';
import type { EnclosedBatch } from './batches-file.js';
import { differ, ExportFailed } from './errors.js';
import type { BatchLeaf } from './ledger-reader.js';
import { ndjsonAtHand } from './lines.js';
import type { FileSink } from './package-writer.js';

/** Bytes of a line, at most. */
const MAX_LINE_BYTES = 100;
/** What a verifier reads of all tag files, at least. */
export const MAX_BYTES = 256 * 1024 * 1024;

/** Makes `tags/<number>.ndjson` for the batches and roll-ups of a package. */
export class TagsFiles {
  /** The tags of the package's consents in the current period of each level of roll-up. */
  readonly #ofPeriod: Record<1 | 2, Uint8Array[]> = { 1: [], 2: [] };

  #bytes = 0;

  constructor(
    readonly db: Queryable,
    readonly writer: FileSink,
    readonly absent: AbsentTags,
  ) {}

  /**
   * Adds the file of a batch, if it needs one.
   * @param leaves all leaves of the batch
   * @param indexes the package's own
   */
  async addBatch(batch: EnclosedBatch, leaves: readonly BatchLeaf[], indexes: readonly number[]): Promise<void> {
    const own = indexes.flatMap((index) => leaves[index]?.tag ?? []);
    for (const tags of Object.values(this.#ofPeriod)) for (const tag of own) tags.push(tag);
    const file = this.#fileOf(batch, own);
    for (const tag of sortedTags(leaves.flatMap(({ tag }) => tag ?? []))) file.accept(tag);
    await this.#add(batch, file);
  }

  /**
   * Adds the file of a roll-up, if it needs one. The batches that it covers must have been added
   * before.
   */
  async addRollUp(rollUp: EnclosedBatch): Promise<void> {
    const { level } = rollUp;
    if (level === 0) throw new RangeError(`${rollUp.number} is not the number of a roll-up`);
    const own = this.#ofPeriod[level];
    this.#ofPeriod[1] = [];
    if (level === 2) this.#ofPeriod[2] = [];
    const file = this.#fileOf(rollUp, own);
    if (file.isNeeded) await eachTag(this.db, rollUp.number, (tag) => file.accept(tag));
    await this.#add(rollUp, file);
  }

  #fileOf({ number }: EnclosedBatch, own: readonly Uint8Array[]): TagsFile {
    return new TagsFile(sortedTags(own), this.absent.of(number));
  }

  async #add(batch: EnclosedBatch, file: TagsFile): Promise<void> {
    if (!file.isNeeded || batch.tagsCount === 0) return;
    const lines = file.lines(batch);
    this.#bytes += lines.length * MAX_LINE_BYTES;
    if (this.#bytes > MAX_BYTES) {
      throw new ExportFailed(
        'too-large',
        'The proofs that none of these records is erased exceed the limit of a package. Choose fewer records or a shorter time range.',
      );
    }
    await this.writer.add(PACKAGE_FILES.tags(batch.number), ndjsonAtHand(lines));
  }
}

/** The lines of one file, made while the tags of the tree pass by in increasing order. */
class TagsFile {
  readonly #proof = new ShownLeavesProof();
  readonly #lines: JsonValue[] = [];
  #nextOwn = 0;
  /** The tag that was passed last: whether it is shown depends on the next one. */
  #last: Uint8Array | null = null;
  /** How many absent tags are below the tag that was passed last. */
  #below = 0;

  /** @param absent sorted; none of them is in the tree */
  constructor(
    readonly own: readonly Uint8Array[],
    readonly absent: readonly Uint8Array[],
  ) {}

  get isNeeded(): boolean {
    return this.own.length > 0 || this.absent.length > 0;
  }

  accept(tag: Uint8Array): void {
    this.#pass(tag);
    this.#last = tag;
  }

  #pass(next: Uint8Array | null): void {
    const tag = this.#last;
    if (tag === null) return;
    const isOwn = this.#isOwn(tag);
    const isShown = this.#isNeighbour(tag, next) || isOwn;
    if (isShown) this.#lines.push({ index: this.#proof.size, tag: toHex(tag) });
    this.#proof.append(personTagLeaf(tag), isShown);
  }

  #isOwn(tag: Uint8Array): boolean {
    const own = this.own[this.#nextOwn];
    if (own === undefined || Buffer.compare(own, tag) !== 0) return false;
    this.#nextOwn += 1;
    return true;
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
  lines({ number, tagsCount, tagsRoot }: EnclosedBatch): readonly JsonValue[] {
    this.#pass(null);
    const root = fromHex(tagsRoot);
    const isRight = this.#proof.size === tagsCount && root !== null && Buffer.compare(this.#proof.root(), root) === 0;
    if (!isRight || this.#nextOwn !== this.own.length) differ(`the tags of batch ${number} do not lead to its root`);
    return [...this.#lines, ...this.#proof.hashes().map((hash) => ({ hash: toHex(hash) }))];
  }
}
