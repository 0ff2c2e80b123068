import { DISCLOSED_VALUES, isDisclosureName } from '../../../schemas/evidence/disclosed-values.js';
import type { Disclosure } from '../../../schemas/evidence/disclosure.js';
import type { EntryFindings } from '../findings/entry-findings.js';
import { type Finding, finding } from '../findings/finding.js';
import type { ConsentMembers, RecordScheme } from '../versions/schemes.js';

/**
 * Checks the disclosed values of a record against its digests: each must match the digest under its name, and have a
 * value of the published type (docs/evidence-format.md §5).
 * @param scheme scheme of the record's hashes
 * @param texts the values as they are transmitted
 * @param decoded the same values decoded, or null if one is malformed
 * @returns the disclosures, for the checks of their values
 */
export function verifyDisclosures(
  record: ConsentMembers,
  scheme: RecordScheme,
  texts: readonly string[],
  decoded: readonly (Disclosure | null)[],
  findings: EntryFindings,
): readonly Disclosure[] {
  // There are few per record, so a linear search costs less than creating a million sets.
  const shown: Disclosure[] = [];
  for (const [i, text] of texts.entries()) {
    const disclosure = decoded[i] ?? null;
    const problem =
      disclosure === null ? finding('disclosure-malformed') : problemOf(record, scheme, text, disclosure, shown);
    if (disclosure === null || problem !== null) {
      findings.fail('disclosure.digest', problem ?? finding('disclosure-malformed'));
      continue;
    }
    findings.pass('disclosure.digest');
    shown.push(disclosure);
  }
  return shown;
}

function problemOf(
  record: ConsentMembers,
  scheme: RecordScheme,
  text: string,
  { name, salt, value }: Disclosure,
  shown: readonly Disclosure[],
): Finding | null {
  if (!isDisclosureName(name)) return finding('disclosure-unpublished-name', { name });
  if (shown.some((other) => other.name === name)) return finding('disclosed-twice', { name });
  if (record.disclosures[name] !== scheme.disclosureDigest(text)) return finding('disclosure-not-committed', { name });
  if (shown.some((other) => other.salt === salt)) return finding('same-salt');
  if (!DISCLOSED_VALUES[name].safeParse(value).success) return finding('disclosure-other-type', { name });
  return null;
}
