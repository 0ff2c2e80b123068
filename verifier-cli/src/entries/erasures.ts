import { toHex } from '../../../schemas/crypto/encoding.js';
import type { SubjectErasedRecord } from '../../../schemas/events/subject-erased.js';
import { erasureTag } from '../../../schemas/evidence/person-tag.js';
import { LIMITS } from '../container/limits.js';
import type { CheckId, Outcome } from '../findings/checks.js';
import { type Finding, finding } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';
import { best, type Verdict } from '../findings/verdict.js';

/** The position of an erasure. */
export interface ErasurePlace {
  readonly stream: string;
  readonly revision: number;
}

/** Result of an entry's checks. */
interface Judged {
  readonly verdict: Verdict;
  /** The check that determined the verdict, or null if the verdict is valid. */
  readonly cause: CheckId | null;
}

interface Erasure extends ErasurePlace {
  readonly verdict: Verdict;
  /** The check that determined the verdict, or null if the verdict is valid. */
  readonly cause: CheckId | null;
  /** Event id of the record that the erasure names. */
  readonly erasedId: string;
  /** `created_at`, milliseconds since 1970. */
  readonly createdAt: number;
  /** The tag in hex, or null if the entry has none. */
  readonly tag: string | null;
}

/** The erasures that the package encloses, and the records that they name. */
export class Erasures {
  readonly #erasures: Erasure[] = [];
  readonly #places = new Map<string, number>();
  /** The first erasure that names a record, by the record's event id. */
  readonly #firsts = new Map<string, number>();
  /** The best verdict on an erasure that names a record, by the record's event id. */
  readonly #best = new Map<string, Verdict>();
  /** The last event of each stream that may be an erasure of an unknown version. */
  readonly #lastUnknown = new Map<string, number>();
  readonly #unknown = new Set<string>();

  constructor(readonly findings: Findings) {}

  /** @param tag tag of its entry, in hex */
  add(place: ErasurePlace, record: SubjectErasedRecord, tag: string | null, { verdict, cause }: Judged): void {
    const index = this.#erasures.length;
    if (index >= LIMITS.erasedIds) {
      this.findings.fail('container.limits', finding('too-many-erasures', { limit: LIMITS.erasedIds }));
      return;
    }
    const erasedId = record.erased_event_id;
    this.#erasures.push({ ...place, verdict, cause, erasedId, createdAt: Date.parse(record.created_at), tag });
    this.#places.set(`${place.stream}@${place.revision}`, index);
    if (!this.#firsts.has(erasedId)) this.#firsts.set(erasedId, index);
    this.#best.set(erasedId, best(this.#best.get(erasedId) ?? 'invalid', verdict));
  }

  /** Adds an event of a version that this verifier does not know, which may erase any earlier record of its stream. */
  addUnknown({ stream, revision }: ErasurePlace): void {
    this.#lastUnknown.set(stream, Math.max(revision, this.#lastUnknown.get(stream) ?? 0));
    if (this.#unknown.size < LIMITS.erasedIds) this.#unknown.add(`${stream}@${revision}`);
  }

  /** Returns whether an event of an unknown version may have erased the record at this position. */
  mayErase({ stream, revision }: ErasurePlace): boolean {
    return revision < (this.#lastUnknown.get(stream) ?? -1);
  }

  /** Whether no record is named. */
  get isEmpty(): boolean {
    return this.#firsts.size === 0;
  }

  isErased(eventId: string): boolean {
    return this.#firsts.has(eventId);
  }

  /**
   * Returns the claimed time of the first erasure that names the record, in milliseconds since 1970, or null if none
   * does.
   */
  timeOf(eventId: string): number | null {
    return this.#erasures[this.#firsts.get(eventId) ?? -1]?.createdAt ?? null;
  }

  /** Returns the best verdict on an erasure that names the record, or null if none does. */
  verdictOn(eventId: string): Verdict | null {
    return this.#best.get(eventId) ?? null;
  }

  /**
   * Returns whether the first erasure of a record has a tag other than the record requires, so that batches would not
   * show the erasure.
   */
  hasWrongTag(eventId: string): boolean {
    const erasure = this.#erasures[this.#firsts.get(eventId) ?? -1];
    return erasure !== undefined && erasure.tag !== toHex(erasureTag(eventId));
  }

  /** Whether the erasure to which a record's mark points proves that the record was erased. */
  evaluate(
    mark: ErasurePlace,
    record: ErasurePlace & { readonly eventId: string },
  ): { outcome: Outcome; message: Finding | null; because?: CheckId | null } {
    const place = `${mark.stream}@${mark.revision}`;
    const index = this.#places.get(place);
    if (index === undefined && this.#unknown.has(place) && mark.stream === record.stream && this.mayErase(record))
      return { outcome: 'indeterminate', message: finding('erasure-unknown') };
    const erasure = index === undefined ? undefined : this.#erasures[index];
    if (erasure === undefined)
      return {
        outcome: 'fail',
        message: finding('erasure-missing'),
      };
    if (erasure.erasedId !== record.eventId) {
      return { outcome: 'fail', message: finding('erasure-of-other-record') };
    }
    if (erasure.stream !== record.stream || erasure.revision <= record.revision) {
      return {
        outcome: 'fail',
        message: finding('erasure-of-other-site'),
      };
    }
    if (erasure.verdict === 'valid') return { outcome: 'pass', message: null };
    return erasure.verdict === 'invalid'
      ? { outcome: 'fail', message: finding('erasure-failed'), because: erasure.cause }
      : {
          outcome: 'indeterminate',
          message: finding('erasure-not-proved'),
          because: erasure.cause,
        };
  }
}
