import { ImportOrigin, originOf, type SealedConsent } from '../events/consent-imported.js';

/** Members of a response by which a caller distinguishes an imported consent from one that was recorded here. */
export const STATED_ORIGIN = {
  imported_from: ImportOrigin.shape.tool.nullable().describe('Former tool of an imported consent.'),
  claimed_at: ImportOrigin.shape.claimed_at.nullable().describe('Time that this tool states.'),
};

/** @param record null if it cannot be read */
export function statedOrigin(record: SealedConsent | null): {
  readonly imported_from: string | null;
  readonly claimed_at: string | null;
} {
  const origin = record === null ? null : originOf(record);
  return { imported_from: origin?.tool ?? null, claimed_at: origin?.claimed_at ?? null };
}
