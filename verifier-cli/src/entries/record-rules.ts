import type { JsonValue } from '../../../schemas/json/json-value.js';
import { type ConsentMembers, isNewer, memberOf, type Schemes } from '../versions/schemes.js';
import { unknownVersion } from '../versions/unknown-version.js';

const RECORD_VERSION = 1;

/**
 * What of a record has a version that is newer than this verifier. Nothing else can be said of the
 * record then.
 * @returns the message about it; null if nothing has
 */
export function unknownOfRecord(record: JsonValue, schemes: Schemes): string | null {
  const version = memberOf(record, 'v');
  if (isNewer(version, RECORD_VERSION)) return unknownVersion(`version ${version} of a record`);
  const hashes = memberOf(record, 'hash_version');
  return isNewer(hashes, Math.max(...schemes.records.keys()))
    ? unknownVersion(`version ${hashes} of a record's hashes`)
    : null;
}

/**
 * What is wrong with the members of a consent's record together; its schema says what each may be.
 * @returns null if nothing is
 */
export function recordProblem(consent: ConsentMembers): string | null {
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
