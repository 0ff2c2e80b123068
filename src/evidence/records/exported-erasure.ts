import type { ExportedErasure } from '../../../schemas/api/export.js';
import { consentToken } from '../../../schemas/events/consent-recorded.js';
import { cursorBehind } from './cursor.js';
import type { SelectedErasure } from './selection.js';

/** An erasure as lists and exports show it. */
export function exportedErasure({ eventId, revision, announcedAt }: SelectedErasure): ExportedErasure {
  return {
    erased_record: { id: eventId, consent_token: consentToken(eventId) },
    announced_at: announcedAt.toISOString(),
    cursor: cursorBehind(revision),
  };
}
