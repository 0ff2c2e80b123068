import type { ConsentRecord } from '../../../schemas/events/consent-recorded.js';
import { type Disclosure, disclosureDigest } from '../../../schemas/evidence/disclosure.js';
import type { EntryFindings } from '../findings/entry-findings.js';

/** Names that SD-JWT reserves (RFC 9901 §4.2.1). */
const RESERVED: readonly string[] = ['_sd', '...', '_sd_alg'];

/**
 * Holds the disclosed values of a record against its digests: each must be one of them, and no
 * digest may be claimed twice.
 * @param texts the values as they travel
 * @param decoded the same, decoded; null where one is malformed
 * @returns the disclosures, for the checks of their values
 */
export function verifyDisclosures(
  record: ConsentRecord,
  texts: readonly string[],
  decoded: readonly (Disclosure | null)[],
  findings: EntryFindings,
): readonly Disclosure[] {
  // At most 64 of each: looking through them costs less than making sets, a million times.
  const claimed: number[] = [];
  const shown: Disclosure[] = [];
  for (const [i, text] of texts.entries()) {
    const disclosure = decoded[i] ?? null;
    const place = record._sd.indexOf(disclosureDigest(text));
    if (disclosure === null) findings.fail('disclosure.digest', 'a disclosed value is malformed');
    else if (place < 0)
      findings.fail(
        'disclosure.digest',
        'the record does not commit to a disclosed value: the value was changed or added',
      );
    else if (claimed.includes(place)) findings.fail('disclosure.digest', 'a value is disclosed twice');
    else {
      claimed.push(place);
      const { name, salt } = disclosure;
      if (RESERVED.includes(name) || Object.hasOwn(record, name) || shown.some((other) => other.name === name))
        findings.fail('disclosure.digest', 'a value is disclosed under a reserved or repeated name');
      else if (shown.some((other) => other.salt === salt))
        findings.fail('disclosure.digest', 'two values have the same salt');
      else {
        findings.pass('disclosure.digest');
        shown.push(disclosure);
      }
    }
  }
  return shown;
}

/**
 * Digests must be sorted and different: their order could carry a message, and equal ones could be
 * claimed by one value.
 */
export function areDigestsSorted(digests: readonly string[]): boolean {
  for (let i = 1; i < digests.length; i += 1) if ((digests[i - 1] ?? '') >= (digests[i] ?? '')) return false;
  return true;
}
