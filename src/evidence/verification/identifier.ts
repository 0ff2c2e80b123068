import { eventIdOfConsentToken } from '../../../schemas/events/consent-recorded.js';

/** The identifier by which a record is looked up. */
export type RecordIdentifier = { readonly eventId: string } | { readonly proofHash: string };

/**
 * Parses an identifier.
 * @param text a UUID, a token or a proof hash
 * @param tokenOf reads a token: `eventIdOfTestToken` for test records, whose tokens name no record of a site
 * @returns null for any other text
 */
export function parseIdentifier(text: string, tokenOf = eventIdOfConsentToken): RecordIdentifier | null {
  const lower = text.trim().toLowerCase();
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(lower)) return { eventId: lower };
  if (/^[0-9a-f]{64}$/.test(lower)) return { proofHash: lower };
  const eventId = tokenOf(lower);
  return eventId === null ? null : { eventId };
}
