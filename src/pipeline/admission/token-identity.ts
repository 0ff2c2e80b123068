import * as z from 'zod';
import { CONSENT_LIMITS } from '../../../schemas/api/consent-limits.js';
import { VOUCHABLE_FIELDS } from '../../../schemas/events/consent-recorded.js';

/**
 * Identity that a tenant's backend vouches for when it mints an approval token. It is stored only
 * encrypted, in the row of the token.
 */
export const TokenIdentity = z.strictObject({
  subject: z.string().min(1).max(CONSENT_LIMITS.visitorId),
  signer_name: z.string().exactOptional(),
  signer_email: z.string().exactOptional(),
  signer_phone: z.string().exactOptional(),
  signer_id_number: z.string().exactOptional(),
  otp_verified: z.boolean().exactOptional(),
  otp_reference: z.string().exactOptional(),
});
export type TokenIdentity = z.infer<typeof TokenIdentity>;

/**
 * An approval token as read before the transaction. Only the transaction decides whether it can
 * still be consumed.
 */
export interface FoundToken {
  readonly id: string;
  readonly documentId: string;
  readonly documentVersionId: string | null;
  readonly customDocumentHash: string | null;
  readonly isConsumed: boolean;
  readonly isExpired: boolean;
  readonly identity: TokenIdentity;
}

/** Returns the sorted names of the disclosures that a token vouches for. */
export function vouchedFields({ identity, customDocumentHash }: FoundToken): (typeof VOUCHABLE_FIELDS)[number][] {
  return VOUCHABLE_FIELDS.filter((name) => {
    if (name === 'visitor_id') return true;
    if (name === 'custom_document_content') return customDocumentHash !== null;
    return identity[name] !== undefined;
  });
}
