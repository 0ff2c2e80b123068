import { type ConsentRecord, HASH_VERSION } from '../../../schemas/events/consent-recorded.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';

const RECORD_VERSION = 1;

/**
 * Whether a record names a version of its form, or of its proof hash, that is newer than this verifier.
 * Nothing else can be said of it then.
 */
export function hasUnknownScheme(record: JsonValue): boolean {
  if (record === null || typeof record !== 'object' || Array.isArray(record)) return false;
  return isNewer(record.v, RECORD_VERSION) || isNewer(record.hash_version, HASH_VERSION);
}

function isNewer(version: JsonValue | undefined, known: number): boolean {
  return typeof version === 'number' && Number.isInteger(version) && version > known;
}

/**
 * What is wrong with the members of a consent's record together; its schema says what each may be.
 * @returns null if nothing is
 */
export function recordProblem(consent: ConsentRecord): string | null {
  const { approval_token_id: token, identity_assurance: assurance, vouched, disclosures } = consent;
  if (consent.valid_until !== null && consent.valid_until < consent.created_at)
    return 'valid_until is earlier than created_at';
  if ((token === null) !== (assurance === null))
    return 'approval_token_id and identity_assurance must both be null, or neither';
  if (token === null && vouched.length > 0) return 'vouched names values, but there is no approval token';
  const missing = vouched.find((name) => disclosures[name] === undefined);
  if (missing !== undefined) return `vouched names ${missing}, to which the record does not commit`;
  return null;
}
