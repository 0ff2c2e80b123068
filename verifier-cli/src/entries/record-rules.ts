import { CONSENT_RECORDED, isVouched } from '../../../schemas/events/consent-recorded.js';
import { isSealedEventType } from '../../../schemas/events/sealed-event.js';
import { OBJECTION_TYPE } from '../../../schemas/law/acts.js';
import { type Finding, finding } from '../findings/finding.js';
import { unknownEventType, unknownVersion } from '../findings/unknown-version.js';
import { answersOf, contradictedCategory } from '../versions/answers.js';
import { type ConsentMembers, isNewer, memberOf, type Schemes } from '../versions/schemes.js';
import type { ReadEntry } from './read-entry.js';

/**
 * Finds a version of the event or of a part of its record that this verifier does not know. If there is one, nothing
 * else can be said about the record.
 * @returns the finding, or null if every version is known
 */
export function unknownOf({ entry, record }: ReadEntry, schemes: Schemes): Finding | null {
  if (!isSealedEventType(entry.type)) return unknownEventType(entry.type);
  const version = memberOf(record, 'v');
  if (isNewer(version, entry.type === CONSENT_RECORDED ? 2 : 1))
    return unknownVersion(finding('record-version', { version }));
  const hashes = memberOf(record, 'hash_version');
  return isNewer(hashes, Math.max(...schemes.records.keys()))
    ? unknownVersion(finding('hash-version', { version: hashes }))
    : null;
}

/**
 * Checks the members of a consent's record together. Its schema states the permitted values of
 * each.
 * @returns null if no rule is broken
 */
export function recordProblem(consent: ConsentMembers): Finding | null {
  const { approval_token_id: token, identity_assurance: assurance, vouched, disclosures } = consent;
  const { import: origin } = consent;
  if (origin !== undefined && origin.claimed_at > consent.created_at) return finding('claimed-after-import');
  if (consent.valid_until !== null && consent.valid_until < (origin?.claimed_at ?? consent.created_at))
    return finding('valid-until-before-creation');
  if ((token === null) !== (assurance === null)) return finding('approval-incomplete');
  if (token === null && vouched.length > 0) return finding('vouched-without-token');
  if (consent.scope === 'account' && !isVouched(consent)) return finding('account-not-vouched');
  if (isAmbiguousObjection(consent)) return finding('objection-ambiguous');
  const contradicted = contradictedCategory(consent);
  if (contradicted !== null) return finding('service-refused', { category: contradicted });
  const missing = vouched.find((name) => disclosures[name] === undefined);
  if (missing !== undefined) return finding('vouched-not-committed', { name: missing });
  return null;
}

/**
 * Whether a record says that the person objects, and could be read as a consent by who does not know the type. Records
 * of before, which have no `rule_id`, may have this type with another meaning.
 */
function isAmbiguousObjection(consent: ConsentMembers): boolean {
  if (consent.rule_id === undefined || consent.consent_type !== OBJECTION_TYPE) return false;
  const { decision, categories, services } = consent;
  if (decision === 'withdrawn') return categories !== null || (services ?? null) !== null;
  const answers = answersOf(consent);
  return decision !== 'rejected' || answers.length === 0 || answers.some(({ isGranted }) => isGranted);
}
