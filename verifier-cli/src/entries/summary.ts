import { actOf } from '../../../schemas/law/acts.js';
import type { Verdict } from '../findings/verdict.js';
import type { ConsentMembers } from '../versions/schemes.js';

/** Counts of the part of the package's content that was read. */
export interface RecordsSummary {
  readonly entries: number;
  readonly consents: number;
  /** Entries and events of a version that this verifier does not know. */
  readonly unknown: number;
  /** Number of these consents that a former tool claims to have recorded. */
  readonly imported: number;
  /** Consents by verdict. */
  readonly verdicts: Readonly<Record<Verdict, number>>;
  /** Consents that an enclosed erasure lists or that are called erased. */
  readonly erased: number;
  /** Number of consents whose key the service claims to have lost. */
  readonly key_lost: number;
  /** Digests of values that are not shown, in records that are neither erased nor without a key. */
  readonly withheld_values: number;
  readonly disclosed_values: number;
  /** Earliest and latest `created_at` of the consents that were recorded here, as the service claims. */
  readonly claimed: { readonly first: string; readonly last: string } | null;
  /** By `actOf`. */
  readonly decisions: Readonly<Record<string, number>>;
}

/** Counts while the entries are read. */
export class SummaryCounter {
  entries = 0;
  /** Entries and events of an unknown version. */
  unknown = 0;
  erased = 0;
  keyLost = 0;
  #imported = 0;
  #withheld = 0;
  #disclosed = 0;
  readonly #decisions: Record<string, number> = {};
  #first: string | null = null;
  #last: string | null = null;

  /** @param withheld values that are not shown, of a record that is neither erased nor without a key */
  consent(record: ConsentMembers, disclosed: number, withheld: number): void {
    const { created_at: createdAt } = record;
    const act = actOf(record) ?? '';
    this.#disclosed += disclosed;
    this.#withheld += withheld;
    this.#decisions[act] = (this.#decisions[act] ?? 0) + 1;
    if (record.import !== undefined) {
      this.#imported += 1;
      return;
    }
    if (this.#first === null || createdAt < this.#first) this.#first = createdAt;
    if (this.#last === null || createdAt > this.#last) this.#last = createdAt;
  }

  summary(consents: number, verdicts: Readonly<Record<Verdict, number>>): RecordsSummary {
    return {
      entries: this.entries,
      unknown: this.unknown,
      consents,
      imported: this.#imported,
      verdicts,
      erased: this.erased,
      key_lost: this.keyLost,
      withheld_values: this.#withheld,
      disclosed_values: this.#disclosed,
      claimed: this.#first === null || this.#last === null ? null : { first: this.#first, last: this.#last },
      decisions: this.#decisions,
    };
  }
}
