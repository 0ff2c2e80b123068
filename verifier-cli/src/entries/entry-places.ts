import type { StreamRun } from '../../../schemas/evidence/batch-header.js';
import { rollUpsOver } from '../../../schemas/evidence/roll-ups.js';
import type { Batch, Batches } from '../batches/batches.js';
import { ProofCache } from '../batches/proofs.js';
import { TagCache } from '../batches/tags.js';
import type { PackageFiles } from '../files/package-files.js';
import type { EntryFindings } from '../findings/entry-findings.js';
import { finding } from '../findings/finding.js';
import type { SealingInterval } from '../time/batch-times.js';
import type { Sealed } from '../time/claimed-times.js';
import type { StampedTimes } from '../time/stamped-times.js';
import type { EntryMembers } from '../versions/schemes.js';
import type { ReadEntry, UnknownEntry } from './read-entry.js';

/** Parts of the package against which the positions of entries are checked. */
export interface PlacesContext {
  readonly batches: Batches;
  /** Size of the package's checkpoint, or null if it has none. */
  readonly size: number | null;
  readonly times: StampedTimes;
  /** When each batch was proved to be sealed. */
  readonly intervals: readonly SealingInterval[];
}

type Position = Pick<EntryMembers, 'stream' | 'revision'>;

/** Facts about a batch that entries name. */
interface NamedBatch {
  readonly number: number;
  /** Undefined if the package does not have the batch in a known version. */
  readonly batch: Batch | undefined;
  readonly interval: SealingInterval | undefined;
  /** The batch and the roll-ups over it. An entry of the batch must be in all of them. */
  readonly holding: readonly number[];
  readonly sealed: Sealed;
}

/** Returns the run of a batch or roll-up that contains an entry, or null if none does. */
function runWith({ runs }: Batch, { stream, revision }: Position): StreamRun | null {
  return runs.find((run) => run.stream === stream && run.first <= revision && revision <= run.last) ?? null;
}

/** Verifies that entries are in their Merkle batches and in the roll-ups over these (RFC 9162 §2.1.3.2). */
export class EntryPlaces {
  readonly tags: TagCache;
  /** Batches with an entry of the package. */
  readonly holding = new Set<number>();
  /** Batches and roll-ups that show the tag of an entry. */
  readonly tagged = new Set<number>();
  readonly #proofs: ProofCache;
  readonly #intervals: ReadonlyMap<number, SealingInterval>;
  /** The latest batch, because neighbouring entries usually belong to the same one. */
  #latest: NamedBatch | null = null;

  constructor(
    files: PackageFiles,
    readonly context: PlacesContext,
  ) {
    this.#proofs = new ProofCache(files, context.batches);
    this.tags = new TagCache(files, context.batches);
    this.#intervals = new Map(context.intervals.map((interval) => [interval.batch, interval]));
  }

  /** Records which files an entry needs. */
  note(read: ReadEntry | UnknownEntry): void {
    const named = this.#named(read.source.batch);
    this.holding.add(named.number);
    const mayHaveTag = !read.isKnown || read.entry.person_tag !== null;
    if (mayHaveTag && !this.tagged.has(named.number)) for (const number of named.holding) this.tagged.add(number);
  }

  /** Returns whether the position of an entry can be verified without reading a file. */
  isAtHand({ entry, source }: ReadEntry): boolean {
    const { batch, holding } = this.#named(source.batch);
    if (batch === undefined || batch.verdict === 'invalid') return true;
    if (!this.#proofs.isAtHand(batch, source.index)) return false;
    return entry.person_tag === null || holding.every((number) => this.tags.isAtHand(number));
  }

  /** Reads the files that are needed to verify the position of an entry. */
  async load(read: ReadEntry): Promise<void> {
    const { batch, holding } = this.#named(read.source.batch);
    if (batch === undefined || this.isAtHand(read)) return;
    await this.#proofs.load(batch);
    if (read.entry.person_tag !== null) await this.tags.load(...holding);
  }

  /** Returns the audit path of an entry's leaf, upwards, or null if the package has none. */
  async pathOf({ source }: ReadEntry): Promise<readonly Uint8Array[] | null> {
    const { batch } = this.#named(source.batch);
    return batch === undefined ? null : this.#proofs.pathOf(batch, source.index);
  }

  /** When the batch of this number was sealed. */
  sealedOf(number: number): Sealed {
    return this.#named(number).sealed;
  }

  /**
   * Verifies that the runs of the batch and of the roll-ups over it have the entry, at the stated index, and that the
   * leaf of an entry of a known version is proved to be there. The entry's verdict includes that of the batch.
   */
  verify(read: ReadEntry | UnknownEntry): void {
    const { entry, source, findings } = read;
    const { number, batch, interval, holding } = this.#named(source.batch);
    if (batch === undefined) {
      if (this.context.batches.unknown.has(number))
        findings.open('entry.inclusion', finding('batch-version-unknown', { batch: number }));
      else findings.fail('entry.inclusion', finding('entry-batch-missing', { batch: number }));
      return;
    }
    const run = runWith(batch, entry);
    if (run === null && !this.context.batches.areStreamsKnown)
      findings.open('batch.streams', finding('streams-unknown'), 'manifest.format');
    else if (run === null) findings.fail('batch.streams', finding('revision-not-in-batch', { batch: number }));
    else if (run !== null && source.index !== run.start + entry.revision - run.first)
      findings.fail('entry.inclusion', finding('other-index-demanded', { batch: number }));
    findings.adopt(batch.verdict, batch.cause);
    findings.adopt(interval?.verdict ?? 'valid', interval?.cause);
    for (const above of holding) if (above !== number) this.#verifyRollUp(above, entry, findings);
    if (read.isKnown) this.#verifyProof(read, batch, holding, run !== null);
  }

  #verifyRollUp(number: number, position: Position, findings: EntryFindings): void {
    const { batches } = this.context;
    const rollUp = batches.get(number);
    if (batches.unknown.has(number)) findings.open('batch.streams', finding('roll-up-unknown', { batch: number }));
    else if (rollUp === undefined) findings.fail('batch.streams', finding('roll-up-missing', { batch: number }));
    else if (runWith(rollUp, position) === null && batches.areStreamsKnown)
      findings.fail('batch.streams', finding('revision-not-in-roll-up', { batch: number }));
    if (rollUp !== undefined) findings.adopt(rollUp.verdict, rollUp.cause);
  }

  /** @param holding batches and roll-ups that must have the entry's tag */
  #verifyProof(
    { entry: { person_tag: tag }, source, leaf, findings }: ReadEntry,
    batch: Batch,
    holding: readonly number[],
    isInRun: boolean,
  ): void {
    // The size that an invalid batch states limits nothing, so its proofs could be endless.
    if (batch.verdict === 'invalid') {
      findings.open('entry.inclusion', finding('batch-failed-before', { batch: source.batch }), batch.cause);
      return;
    }
    const problem = this.#proofs.problemOf(batch, source.index, leaf);
    // An entry that is listed under a wrong batch has neither its proof nor its tag there.
    const because = isInRun ? null : 'batch.streams';
    if (problem === null) findings.pass('entry.inclusion');
    else findings.fail('entry.inclusion', problem, because);
    if (tag === null) return;
    for (const number of holding) {
      if (!this.context.batches.has(number)) continue;
      const missing = this.tags.problemOf(number, tag);
      if (missing === null) findings.pass('batch.tags');
      else findings.fail('batch.tags', missing, because);
    }
  }

  #named(number: number): NamedBatch {
    if (this.#latest?.number === number) return this.#latest;
    const { batches, size, times } = this.context;
    const batch = batches.get(number);
    const interval = this.#intervals.get(number);
    this.#latest = {
      number,
      batch,
      interval,
      holding: [number, ...rollUpsOver(number, size ?? 0)],
      sealed: {
        after: interval?.after ?? null,
        before: interval?.before ?? null,
        missing: batch === undefined ? 'entry.inclusion' : times.causeOfMissing(number),
        sealedAt: batch === undefined ? null : Date.parse(batch.header.sealed_at),
        authorities: { found: times.authoritiesOf(number), required: times.requiredFor(number) },
      },
    };
    return this.#latest;
  }
}
