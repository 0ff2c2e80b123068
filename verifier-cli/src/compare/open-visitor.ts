import { isConsentType } from '../../../schemas/events/sealed-event.js';
import { namedVisitor } from '../../../schemas/evidence/disclosed-values.js';
import { decodeDisclosure, disclosureDigest } from '../../../schemas/evidence/disclosure.js';
import type { Entry } from '../../../schemas/evidence/entry.js';

/**
 * The person that a disclosure names, if the entry is a consent that commits to it.
 * @returns in Unicode normalization form C, or null if it names none
 */
export function visitorIn({ type, record }: Entry, text: string): string | null {
  const { disclosures } = record;
  if (!isConsentType(type) || typeof disclosures !== 'object' || disclosures === null) return null;
  if (Array.isArray(disclosures) || disclosures.visitor_id !== disclosureDigest(text)) return null;
  const disclosure = decodeDisclosure(text);
  return disclosure === null ? null : namedVisitor([disclosure]);
}
