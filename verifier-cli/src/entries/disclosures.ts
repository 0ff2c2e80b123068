import type { ConsentRecord } from '../../../schemas/events/consent-recorded.js';
import { type Disclosure, decodeDisclosure, disclosureDigest } from '../../../schemas/evidence/disclosure.js';
import type { EntryFindings } from '../findings/entry-findings.js';

/** Names that SD-JWT reserves (RFC 9901 §4.2.1). */
const RESERVED = new Set(['_sd', '...', '_sd_alg']);

/**
 * Holds the disclosed values of a record against its digests: each must be one of them, and no digest may be claimed twice.
 * @returns what is disclosed, for the checks that look at values
 */
export function verifyDisclosures(
  record: ConsentRecord,
  disclosures: readonly string[],
  findings: EntryFindings,
): readonly Disclosure[] {
  const open = new Set(record._sd);
  const names = new Set<string>(Object.keys(record));
  const salts = new Set<string>();
  const shown: Disclosure[] = [];
  for (const text of disclosures) {
    const disclosure = decodeDisclosure(text);
    const digest = disclosureDigest(text);
    if (disclosure === null) findings.fail('disclosure.digest', 'a disclosed value is malformed');
    else if (!record._sd.includes(digest))
      findings.fail(
        'disclosure.digest',
        'a disclosed value is not one that the record commits to: it was changed or added',
      );
    else if (!open.delete(digest)) findings.fail('disclosure.digest', 'a value is disclosed twice');
    else if (RESERVED.has(disclosure.name) || names.has(disclosure.name))
      findings.fail('disclosure.digest', 'a value is disclosed under a name that is taken');
    else if (salts.has(disclosure.salt)) findings.fail('disclosure.digest', 'two values share one salt');
    else {
      findings.pass('disclosure.digest');
      shown.push(disclosure);
      names.add(disclosure.name);
      salts.add(disclosure.salt);
    }
  }
  return shown;
}

/** Digests must be sorted and different: their order could carry a message, and equal ones could be claimed by one value. */
export function areDigestsSorted(digests: readonly string[]): boolean {
  return digests.every((digest, i) => i === 0 || (digests[i - 1] ?? '') < digest);
}
