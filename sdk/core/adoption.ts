import type { StatusItem } from '../shared/types.js';
import type { Configuration } from './answers.js';
import { askedIn, digestsOf } from './asked.js';
import { completed, isInForce, type Kept } from './choice.js';
import { isDecision } from './choice-text.js';
import { areAnswers, type Guard, isText, nullable, objectOf, optional } from './guards.js';

/** A choice about cookies that is on record, as `status` of a backend returns it. */
export type RecordedChoice = Pick<
  StatusItem,
  | 'consent_type'
  | 'decision'
  | 'categories'
  | 'document_version_id'
  | 'language'
  | 'consent_token'
  | 'proof_hash'
  | 'created_at'
  | 'valid_until'
> & {
  /** Null or absent if the person was not asked about services. */
  readonly services?: StatusItem['services'] | undefined;
  /** Former tool of an imported consent. Null or absent if the consent was recorded here. */
  readonly imported_from?: string | null | undefined;
  /** Time that the former tool states. */
  readonly claimed_at?: string | null | undefined;
};

const isTime: Guard<string> = (value): value is string => isText(value) && !Number.isNaN(Date.parse(value));

/** The choice arrives from the site's backend as JSON. */
export const isRecordedChoice = objectOf<RecordedChoice>({
  consent_type: isText,
  decision: isDecision,
  categories: nullable(areAnswers),
  services: optional(nullable(areAnswers)),
  document_version_id: isText,
  language: isText,
  consent_token: isText,
  proof_hash: isText,
  created_at: isTime,
  valid_until: nullable(isTime),
  imported_from: optional(nullable(isText)),
  claimed_at: optional(nullable(isTime)),
});

/**
 * The choice of a person on another device, for this one.
 * @param configuration the configuration of this site, in the language of the choice
 * @param now Unix milliseconds
 * @returns null if the choice does not count here. A permission only counts if it answers the site's own configuration;
 * a refusal always counts, because it permits nothing
 */
export function adopted(record: RecordedChoice, configuration: Configuration, now: number): Kept | null {
  const { consent_type, categories, services, created_at, valid_until, claimed_at } = record;
  if (consent_type !== 'cookie' || (valid_until !== null && Date.parse(valid_until) <= now)) return null;
  const isPermitted = record.decision === 'accepted' || record.decision === 'partial';
  const named = (isPermitted && services) || undefined;
  const choice: Kept = {
    decision: record.decision,
    categories: completed(configuration, { categories: (isPermitted && categories) || {}, services: named }).categories,
    // A service that the record does not name was added since.
    services: named,
    document_version_id: record.document_version_id,
    language: record.language,
    consent_token: record.consent_token,
    proof_hash: record.proof_hash,
    created_at,
    valid_until,
    // `created_at` of an imported choice is the time of the import.
    at: Date.parse(claimed_at ?? created_at),
    isVoid: false,
    isSignalled: false,
    isPermitted,
    wasPermitted: isPermitted,
    asked: digestsOf(askedIn(configuration)),
  };
  const isAnswer = isInForce({ ...choice, categories: categories ?? {} }, configuration);
  return isAnswer || !isPermitted ? choice : null;
}
