import type { SubjectErasedRecord } from '../../../schemas/events/subject-erased.js';
import { LIMITS } from '../container/limits.js';
import type { Outcome } from '../findings/check-table.js';
import type { Findings } from '../findings/findings.js';
import type { Verdict } from '../findings/verdict.js';

/** The position of an erasure. */
export interface ErasurePlace {
  readonly stream: string;
  readonly revision: number;
}

interface Erasure extends ErasurePlace {
  readonly verdict: Verdict;
}

/** The erasures that the package encloses, and the records that they list. */
export class Erasures {
  readonly #erasures: Erasure[] = [];
  readonly #places = new Map<string, number>();
  /** Event id of a record to the first erasure that lists it. */
  readonly #firsts = new Map<string, number>();
  /** Erasures that list a record which another one lists as well. */
  readonly #others = new Set<string>();

  constructor(readonly findings: Findings) {}

  add(place: ErasurePlace, record: SubjectErasedRecord, verdict: Verdict): void {
    const index = this.#erasures.length;
    this.#erasures.push({ ...place, verdict });
    this.#places.set(`${place.stream}@${place.revision}`, index);
    for (const id of record.erased_event_ids) {
      if (this.#firsts.size + this.#others.size >= LIMITS.erasedIds) {
        this.findings.fail('container.limits', `the erasures list more than ${LIMITS.erasedIds} records`);
        return;
      }
      if (this.#firsts.has(id)) this.#others.add(`${id}@${index}`);
      else this.#firsts.set(id, index);
    }
  }

  /** Whether no record is listed. */
  get isEmpty(): boolean {
    return this.#firsts.size === 0;
  }

  isErased(eventId: string): boolean {
    return this.#firsts.has(eventId);
  }

  /** Whether the erasure to which a record's mark points proves that the record was erased. */
  evaluate(
    mark: ErasurePlace,
    record: ErasurePlace & { readonly eventId: string },
  ): { outcome: Outcome; message: string } {
    const index = this.#places.get(`${mark.stream}@${mark.revision}`);
    const erasure = index === undefined ? undefined : this.#erasures[index];
    if (erasure === undefined)
      return {
        outcome: 'fail',
        message: 'the record is marked as erased, but the package does not include that erasure',
      };
    if (this.#firsts.get(record.eventId) !== index && !this.#others.has(`${record.eventId}@${index}`)) {
      return { outcome: 'fail', message: 'the record is marked as erased, but the erasure does not list it' };
    }
    if (erasure.stream !== record.stream || erasure.revision <= record.revision) {
      return {
        outcome: 'fail',
        message: 'the record is marked as erased by an erasure of another site, or by an earlier one',
      };
    }
    if (erasure.verdict === 'valid') return { outcome: 'pass', message: '' };
    return erasure.verdict === 'invalid'
      ? { outcome: 'fail', message: 'the erasure that lists the record failed its checks' }
      : { outcome: 'indeterminate', message: 'the erasure that lists the record is not proved' };
  }
}
