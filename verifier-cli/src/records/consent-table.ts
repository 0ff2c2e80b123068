import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { VALIDITIES } from '../../../schemas/law/periods.js';
import type { ConsentClaims } from '../documents/in-force.js';
import { Column } from '../entries/column.js';
import type { ErasurePlace } from '../entries/erasures.js';
import type { ReadEntry } from '../entries/read-entry.js';
import { readUuid, UUID_WORDS, writeUuid } from '../entries/uuid-words.js';
import type { EntryFindings } from '../findings/entry-findings.js';
import type { Location } from '../findings/findings.js';
import { type Verdict, worst } from '../findings/verdict.js';

/** Facts of a consent's record that are kept until the whole file is read. */
export interface ConsentFacts extends Omit<ConsentClaims, 'batch'> {
  /** See `Documents.referToVersion`. */
  readonly version: number;
  /** See `Documents.referToConfiguration`. */
  readonly configuration: number;
  /** Whether the public part of the record matches the filter of the manifest. */
  readonly matches: boolean;
  /** Whether a value is withheld although the manifest states that all are disclosed. */
  readonly isLacking: boolean;
}

/** The part of a consent's entry that is kept. */
type ConsentEntry = Pick<ReadEntry, 'line' | 'entry' | 'source'> & {
  readonly findings: Pick<EntryFindings, 'verdict'>;
};

/** A kept consent, without its event id and tag. */
interface ConsentRow extends ConsentFacts, ConsentClaims {
  readonly line: number;
  readonly stream: string;
  readonly revision: number;
  readonly verdict: Verdict;
  readonly erased: ErasurePlace | null;
  readonly isDisclosed: boolean;
}

const VERDICTS: readonly Verdict[] = ['valid', 'indeterminate', 'invalid'];

/** Consents in columns of numbers. A million objects and texts would need several times as much memory. */
export class ConsentTable {
  readonly #lines = Column.ofIntegers();
  /** Index of the stream in `#names`. */
  readonly #streams = new Column((cells) => new Uint32Array(cells));
  readonly #revisions = Column.ofIntegers();
  readonly #eventIds = new Column((cells) => new Uint32Array(cells));
  readonly #batches = Column.ofIntegers();
  readonly #createdAt = Column.ofIntegers();
  /** When imported consents were decided, by index. Other consents were decided when they were recorded. */
  readonly #decidedAt = new Map<number, number>();
  /** −1 if it never expires. */
  readonly #validFor = Column.ofIntegers();
  /** Not a number if the person is not asked again. */
  readonly #askAgain = Column.ofIntegers();
  readonly #verdicts = new Column((cells) => new Uint8Array(cells));
  readonly #versions = new Column((cells) => new Int32Array(cells));
  readonly #configurations = new Column((cells) => new Int32Array(cells));
  readonly #flags = new Column((cells) => new Uint8Array(cells));
  /** Revision of the erasure, or −1 if the record is not marked as erased. */
  readonly #erasedRevisions = Column.ofIntegers();
  readonly #erasedStreams = new Map<number, string>();
  readonly #names: string[] = [];
  readonly #words = new Uint32Array(UUID_WORDS);

  get length(): number {
    return this.#lines.length;
  }

  /** @param facts facts of the record, or null if it cannot be read */
  add({ line, entry, source, findings }: ConsentEntry, facts: ConsentFacts | null): void {
    const index = this.length;
    const { stream } = entry;
    const { batch, erased, disclosures } = source;
    // Entries are sorted by stream, so it is usually the same as before. `entry.order` reports a wrong order.
    if (this.#names.at(-1) !== stream) this.#names.push(stream);
    this.#lines.push(line);
    this.#streams.push(this.#names.length - 1);
    this.#revisions.push(entry.revision);
    readUuid(entry.event_id, this.#words);
    for (const word of this.#words) this.#eventIds.push(word);
    this.#batches.push(batch);
    this.#createdAt.push(facts?.createdAt ?? 0);
    if (facts?.isImported === true) this.#decidedAt.set(index, facts.decidedAt);
    this.#validFor.push(facts?.validForMs ?? -1);
    this.#askAgain.push(facts?.periods?.askAgainMs ?? Number.NaN);
    this.#verdicts.push(VERDICTS.indexOf(findings.verdict));
    this.#versions.push(facts?.version ?? -1);
    this.#configurations.push(facts?.configuration ?? -1);
    this.#flags.push(
      (disclosures.length > 0 ? 1 : 0) +
        (facts?.isLacking ? 2 : 0) +
        (facts?.lacksToken ? 4 : 0) +
        (facts?.matches ? 8 : 0) +
        (facts?.isImported ? 16 : 0) +
        (facts?.periods == null ? 0 : 32 * (1 + VALIDITIES.indexOf(facts.periods.validity))) +
        (facts?.periods?.isRefusal ? 128 : 0),
    );
    this.#erasedRevisions.push(erased?.revision ?? -1);
    if (erased !== undefined && erased.stream !== stream) this.#erasedStreams.set(index, erased.stream);
  }

  /** A row without its event id: see `eventIdOf`. */
  row(index: number): ConsentRow {
    const stream = this.#names[this.#streams.at(index)] ?? '';
    const erasedRevision = this.#erasedRevisions.at(index);
    const validFor = this.#validFor.at(index);
    const flags = this.#flags.at(index);
    const validity = VALIDITIES[((flags & 96) >> 5) - 1];
    const askAgain = this.#askAgain.at(index);
    return {
      line: this.#lines.at(index),
      stream,
      revision: this.#revisions.at(index),
      batch: this.#batches.at(index),
      createdAt: this.#createdAt.at(index),
      decidedAt: this.#decidedAt.get(index) ?? this.#createdAt.at(index),
      validForMs: validFor < 0 ? null : validFor,
      verdict: VERDICTS[this.#verdicts.at(index)] ?? 'invalid',
      version: this.#versions.at(index),
      configuration: this.#configurations.at(index),
      erased:
        erasedRevision < 0 ? null : { stream: this.#erasedStreams.get(index) ?? stream, revision: erasedRevision },
      isDisclosed: (flags & 1) !== 0,
      isLacking: (flags & 2) !== 0,
      lacksToken: (flags & 4) !== 0,
      matches: (flags & 8) !== 0,
      isImported: (flags & 16) !== 0,
      periods:
        validity === undefined
          ? null
          : { validity, isRefusal: (flags & 128) !== 0, askAgainMs: Number.isNaN(askAgain) ? null : askAgain },
    };
  }

  /** Returns the event id of a row, which is reassembled at each call. */
  eventIdOf(index: number): string {
    return writeUuid(Array.from({ length: UUID_WORDS }, (_, i) => this.#eventIds.at(index * UUID_WORDS + i)));
  }

  /** The place of a row in the file. */
  locationOf(index: number): Location {
    const { line, stream, revision } = this.row(index);
    return { file: PACKAGE_FILES.entries, line, stream, revision, event_id: this.eventIdOf(index) };
  }

  /** Makes a row's verdict at least as bad as this one. */
  worsen(index: number, verdict: Verdict): void {
    const now = VERDICTS[this.#verdicts.at(index)] ?? 'invalid';
    this.#verdicts.set(index, VERDICTS.indexOf(worst(now, verdict)));
  }

  /** Returns the number of consents of each verdict. */
  tally(): Readonly<Record<Verdict, number>> {
    const counts = { valid: 0, indeterminate: 0, invalid: 0 };
    for (let i = 0; i < this.length; i += 1) counts[VERDICTS[this.#verdicts.at(i)] ?? 'invalid'] += 1;
    return counts;
  }
}
