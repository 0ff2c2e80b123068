import { fromHex, toHex } from '../../../schemas/crypto/encoding.js';
import { namedVisitor } from '../../../schemas/evidence/disclosed-values.js';
import type { Disclosure } from '../../../schemas/evidence/disclosure.js';
import { personTag } from '../../../schemas/evidence/person-tag.js';
import { type Finding, finding } from '../findings/finding.js';
import type { ReadEntry } from './read-entry.js';

/** A problem of a person opening, and whether it makes the record invalid. */
export interface OpeningProblem {
  readonly outcome: 'fail' | 'indeterminate';
  readonly message: Finding;
}

/**
 * Evaluates the person opening of a consent (docs/evidence-format.md §16). A ledger that gives one
 * visitor two ids could otherwise leave the opening out of receipts, and they could not be compared.
 * @param disclosures of the record, as far as they hold
 * @param isReceipt whether the file is a receipt
 * @returns null if nothing is wrong; `none` if there is nothing to evaluate
 */
export function openingProblem(
  { entry, source: { person, erased } }: Pick<ReadEntry, 'entry' | 'source'>,
  disclosures: readonly Disclosure[],
  isReceipt: boolean,
): OpeningProblem | 'none' | null {
  const fail = (message: Finding): OpeningProblem => ({ outcome: 'fail', message });
  const visitor = namedVisitor(disclosures);
  if (person === undefined) {
    if (!isReceipt || visitor === null) return 'none';
    const message = finding('opening-missing');
    return { outcome: 'indeterminate', message };
  }
  if (!isReceipt) return fail(finding('opening-outside-receipt'));
  if (visitor === null) return fail(finding('opening-without-id'));
  if (erased !== undefined) return fail(finding('opening-of-erased'));
  if (person.n > entry.revision + 1)
    return fail(finding('opening-number-too-large', { number: person.n, revision: entry.revision }));
  const id = fromHex(person.id);
  return id !== null && toHex(personTag(id, person.n)) === entry.person_tag ? null : fail(finding('opening-wrong-tag'));
}
