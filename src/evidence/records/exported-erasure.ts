import type { ExportedErasure } from '../../../schemas/api/export.js';
import { consentToken, testConsentToken } from '../../../schemas/events/consent-recorded.js';
import { cursorBehind } from './cursor.js';
import type { SelectedErasure } from './selection.js';
import type { ErasedTestRecord } from './test-records.js';

/** An erasure as lists and exports show it. */
export function exportedErasure({ eventId, revision, announcedAt }: SelectedErasure): ExportedErasure {
  return {
    erased_record: { id: eventId, consent_token: consentToken(eventId) },
    announced_at: announcedAt.toISOString(),
    cursor: cursorBehind(revision),
  };
}

/** The same for an erased test record. */
export function exportedTestErasure({ eventId, number, at }: ErasedTestRecord): ExportedErasure {
  return {
    erased_record: { id: eventId, consent_token: testConsentToken(eventId) },
    announced_at: at.toISOString(),
    cursor: cursorBehind(number),
  };
}
