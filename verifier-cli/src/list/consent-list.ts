import { consentToken } from '../../../schemas/events/consent-recorded.js';
import type { Disclosure } from '../../../schemas/evidence/disclosure.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { type Verdict, worst } from '../findings/verdict.js';
import type { ConsentMembers, EntryMembers } from '../versions/schemes.js';
import type { ConsentListing, ListedConsent } from './listed-consent.js';
import { withSuccessors } from './successors.js';

/** The place of a consent that was read. */
interface Place {
  readonly line: number;
  readonly entry: EntryMembers;
}

/** Facts about a consent that are known once the whole package is verified. */
interface Evaluated {
  readonly verdict: Verdict;
  readonly isErased: boolean;
  readonly erasureVerdict: Verdict | null;
  readonly existedBy: number | null;
  readonly text: ListedConsent['text'];
}

/** Maximum number of consents that a program lists. Each takes about a kilobyte of memory. */
export const MAX_CONSENTS = 100_000;

type Draft = { -readonly [Member in keyof ListedConsent]: ListedConsent[Member] };

/**
 * Collects the consents of a package while it is verified. A package may have a million: the list
 * holds the first ones, and counts the others.
 */
export class ConsentList {
  readonly #drafts: Draft[] = [];
  #count = 0;
  #listing: ConsentListing = { consents: [], count: 0 };

  /** @param limit maximum number of consents in the list */
  constructor(readonly limit: number) {}

  /** The consents, once the package is verified. */
  get listing(): ConsentListing {
    return this.#listing;
  }

  /**
   * Takes the next consent of the package.
   * @param record null if it cannot be read
   */
  accept({ line, entry }: Place, record: ConsentMembers | null, disclosures: readonly Disclosure[]): void {
    this.#count += 1;
    if (this.#drafts.length === this.limit) return;
    const disclosed: Record<string, JsonValue> = {};
    for (const { name, value } of disclosures) disclosed[name] = value;
    this.#drafts.push({
      line,
      event_id: entry.event_id,
      consent_token: consentToken(entry.event_id),
      stream: entry.stream,
      revision: entry.revision,
      verdict: 'indeterminate',
      recorded_at: record?.created_at ?? null,
      existed_by: null,
      imported:
        record?.import === undefined ? null : { from: record.import.tool, claimed_at: record.import.claimed_at },
      consent_type: record?.consent_type ?? null,
      decision: record?.decision ?? null,
      scope: record === null ? null : (record.scope ?? 'device'),
      document_version_id: record?.document_version_id ?? null,
      language: record?.language ?? null,
      text: null,
      disclosed,
      erased: false,
      erasure_verdict: null,
      superseded_by: null,
    });
  }

  /** Whether the list holds the consent with this index in the package. */
  holds(index: number): boolean {
    return index < this.#drafts.length;
  }

  /** Takes the results that need the whole package. @param index index of the consent in the package */
  evaluate(index: number, { verdict, isErased, erasureVerdict, existedBy, text }: Evaluated): void {
    const draft = this.#drafts[index];
    if (draft === undefined) return;
    draft.verdict = verdict;
    draft.erased = isErased;
    draft.erasure_verdict = erasureVerdict;
    draft.existed_by = existedBy === null ? null : new Date(existedBy).toISOString();
    draft.text = text;
  }

  /**
   * Ends the list.
   * @param foundation verdict of the checks that every record depends on
   * @param isOfOnePerson whether all records of the package are of one person
   */
  finish(foundation: Verdict, isOfOnePerson: boolean): void {
    for (const draft of this.#drafts) {
      draft.verdict = worst(draft.verdict, foundation);
      // The time is that of the batch that claims the record, which may not really contain it.
      if (draft.verdict === 'invalid') draft.existed_by = null;
    }
    this.#listing = { consents: withSuccessors(this.#drafts, isOfOnePerson), count: this.#count };
  }
}
