import { fromHex, toHex } from '../../../schemas/crypto/encoding.js';
import { namedVisitor } from '../../../schemas/evidence/disclosed-values.js';
import type { Disclosure } from '../../../schemas/evidence/disclosure.js';
import type { EntryLine } from '../../../schemas/evidence/package-lines.js';
import { personTag } from '../../../schemas/evidence/person-tag.js';
import { type Finding, finding } from '../findings/finding.js';
import type { ReadEntry } from './read-entry.js';

/**
 * Verifies the person opening of a consent (docs/evidence-format.md §16). Otherwise a ledger that gives one visitor two
 * ids could omit the opening from receipts, so that they could not be compared.
 * @param disclosures valid disclosures of the record
 * @param isReceipt whether the file is a receipt
 */
export function verifyOpening(read: ReadEntry, disclosures: readonly Disclosure[], isReceipt: boolean): void {
  const visitor = namedVisitor(disclosures);
  const { person } = read.source;
  if (person === undefined) {
    if (isReceipt && visitor !== null) read.findings.open('disclosure.person', finding('opening-missing'));
    return;
  }
  const problem = isReceipt ? problemOf(person, visitor, read) : finding('opening-outside-receipt');
  if (problem === null) read.findings.pass('disclosure.person');
  else read.findings.fail('disclosure.person', problem);
}

function problemOf(
  { id, n: number }: NonNullable<EntryLine['person']>,
  visitor: string | null,
  { entry: { revision, person_tag: tag }, source }: ReadEntry,
): Finding | null {
  if (visitor === null) return finding('opening-without-id');
  if (source.erased !== undefined) return finding('opening-of-erased');
  if (number > revision + 1) return finding('opening-number-too-large', { number, revision });
  const bytes = fromHex(id);
  return bytes !== null && toHex(personTag(bytes, number)) === tag ? null : finding('opening-wrong-tag');
}
