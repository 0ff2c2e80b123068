import type { SealedConsent } from '../../../schemas/events/consent-imported.js';
import { isConsentType, SEALED_RECORD_SCHEMAS } from '../../../schemas/events/sealed-event.js';
import { matchShape } from '../files/parse.js';
import type { ShownRecord } from './shown-record.js';

/** The record of a consent, recorded here or imported. @returns null for another event, or a record of another form */
export function shownConsent({ type, record }: Pick<ShownRecord, 'type' | 'record'>): SealedConsent | null {
  if (!isConsentType(type)) return null;
  const parsed = matchShape<SealedConsent>(SEALED_RECORD_SCHEMAS[type], record);
  return parsed.ok ? parsed.value : null;
}
