import type { ConsentRecord } from '../../../schemas/events/consent-recorded.js';

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
