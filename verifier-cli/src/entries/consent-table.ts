import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { ErasurePlace } from '../erasure/erasures.js';
import { EntryFindings, type EntryNote } from '../findings/entry-findings.js';
import type { Findings } from '../findings/findings.js';
import { type Verdict, worst } from '../findings/verdict.js';

/** What has to be remembered of a consent until the whole file is read. */
export interface ConsentRow {
  readonly line: number;
  readonly stream: string;
  readonly revision: number;
  readonly eventId: string;
  /** Its place in the ledger. */
  readonly batch: number;
  readonly index: number;
  readonly verdict: Verdict;
  readonly version: number;
  readonly configuration: number;
  readonly erased: ErasurePlace | null;
  readonly isDisclosed: boolean;
}

const VERDICTS: readonly Verdict[] = ['valid', 'indeterminate', 'invalid'];

/** Consents in columns: a million objects would need several times the memory. */
export class ConsentTable {
  readonly #lines: number[] = [];
  readonly #streams: string[] = [];
  readonly #revisions: number[] = [];
  readonly #eventIds: string[] = [];
  readonly #batches: number[] = [];
  readonly #indexes: number[] = [];
  readonly #verdicts: number[] = [];
  readonly #versions: number[] = [];
  readonly #configurations: number[] = [];
  readonly #disclosed: boolean[] = [];
  readonly #erasedStreams = new Map<number, string>();
  /** Revision of the erasure; −1 where the record is not called erased. */
  readonly #erasedRevisions: number[] = [];
  #lastStream = '';

  get length(): number {
    return this.#lines.length;
  }

  add(row: ConsentRow): void {
    const index = this.length;
    if (row.stream !== this.#lastStream) this.#lastStream = row.stream;
    this.#lines.push(row.line);
    this.#streams.push(this.#lastStream);
    this.#revisions.push(row.revision);
    this.#eventIds.push(row.eventId);
    this.#batches.push(row.batch);
    this.#indexes.push(row.index);
    this.#verdicts.push(VERDICTS.indexOf(row.verdict));
    this.#versions.push(row.version);
    this.#configurations.push(row.configuration);
    this.#disclosed.push(row.isDisclosed);
    this.#erasedRevisions.push(row.erased?.revision ?? -1);
    if (row.erased !== null && row.erased.stream !== row.stream) this.#erasedStreams.set(index, row.erased.stream);
  }

  row(index: number): ConsentRow {
    const stream = this.#streams[index] ?? '';
    const erasedRevision = this.#erasedRevisions[index] ?? -1;
    return {
      line: this.#lines[index] ?? 0,
      stream,
      revision: this.#revisions[index] ?? 0,
      eventId: this.#eventIds[index] ?? '',
      batch: this.#batches[index] ?? 0,
      index: this.#indexes[index] ?? 0,
      verdict: VERDICTS[this.#verdicts[index] ?? 2] ?? 'invalid',
      version: this.#versions[index] ?? -1,
      configuration: this.#configurations[index] ?? -1,
      erased:
        erasedRevision < 0 ? null : { stream: this.#erasedStreams.get(index) ?? stream, revision: erasedRevision },
      isDisclosed: this.#disclosed[index] ?? false,
    };
  }

  /** Findings at the place of a row. */
  findingsAt(
    { line, stream, revision, eventId }: ConsentRow,
    all: Findings,
    notes: EntryNote[] | null = null,
  ): EntryFindings {
    return new EntryFindings(all, { file: PACKAGE_FILES.entries, line, stream, revision, event_id: eventId }, notes);
  }

  /** Makes a row's verdict at least as bad as this one. */
  worsen(index: number, verdict: Verdict): void {
    const now = VERDICTS[this.#verdicts[index] ?? 2] ?? 'invalid';
    this.#verdicts[index] = VERDICTS.indexOf(worst(now, verdict));
  }

  /** How many consents there are of each verdict. */
  tally(): Readonly<Record<Verdict, number>> {
    const counts = { valid: 0, indeterminate: 0, invalid: 0 };
    for (const verdict of this.#verdicts) counts[VERDICTS[verdict] ?? 'invalid'] += 1;
    return counts;
  }
}
