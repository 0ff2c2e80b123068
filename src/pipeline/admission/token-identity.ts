import { z } from 'zod';
import { CONSENT_LIMITS } from '../../../schemas/api/consent-limits.js';
import { VOUCHABLE_FIELDS } from '../../../schemas/events/consent-recorded.js';

/** What a tenant's backend vouches for when it mints an approval token; kept only encrypted, in the token's row. */
export const TokenIdentity = z.strictObject({
  subject: z.string().min(1).max(CONSENT_LIMITS.visitorId),
  signer_name: z.string().optional(),
  signer_email: z.string().optional(),
  signer_phone: z.string().optional(),
  signer_id_number: z.string().optional(),
  otp_verified: z.boolean().optional(),
  otp_reference: z.string().optional(),
});
export type TokenIdentity = z.infer<typeof TokenIdentity>;

/** An approval token as it was found before the transaction, which alone decides whether it can still be consumed. */
export interface FoundToken {
  readonly id: string;
  readonly documentId: string;
  readonly documentVersionId: string | null;
  readonly customDocumentHash: string | null;
  readonly isConsumed: boolean;
  readonly isExpired: boolean;
  readonly identity: TokenIdentity;
}

/** What a token vouches for, by the names that the record's disclosures have, sorted. */
export function vouchedFields({ identity, customDocumentHash }: FoundToken): (typeof VOUCHABLE_FIELDS)[number][] {
  return VOUCHABLE_FIELDS.filter((name) => {
    if (name === 'visitor_id') return true;
    if (name === 'custom_document_content') return customDocumentHash !== null;
    return identity[name] !== undefined;
  });
}
