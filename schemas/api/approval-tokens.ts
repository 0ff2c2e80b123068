import { z } from 'zod';
import { CONSENT_LIMITS } from './consent-limits.js';
import { AnyUuid } from './consents.js';

const { least, most } = CONSENT_LIMITS.approvalTokenSeconds;

export const ApprovalTokenRequest = z
  .object({
    document_slug: z.string().min(1).max(80).nullish(),
    document_version_id: AnyUuid.nullish(),
    subject: z.string().min(1).max(CONSENT_LIMITS.visitorId),
    signer_name: z.string().max(CONSENT_LIMITS.signerName).nullish(),
    signer_email: z.string().max(CONSENT_LIMITS.signerEmail).nullish(),
    signer_phone: z.string().max(CONSENT_LIMITS.signerPhone).nullish(),
    signer_id_number: z.string().max(CONSENT_LIMITS.signerIdNumber).nullish(),
    otp_verified: z.boolean().nullish(),
    otp_reference: z.string().max(CONSENT_LIMITS.otpReference).nullish(),
    custom_document_hash: z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hex digits')
      .nullish(),
    expires_in: z.int().min(least).max(most).nullish(),
  })
  .refine((request) => request.document_slug != null || request.document_version_id != null, {
    path: ['document_slug'],
    message: 'document_slug or document_version_id is needed',
  })
  .meta({ id: 'ApprovalTokenRequest' });
export type ApprovalTokenRequest = z.infer<typeof ApprovalTokenRequest>;

export const ApprovalTokenResponse = z
  .object({
    message: z.string(),
    data: z.object({
      approval_token: z.string().regex(/^hat_[A-Za-z0-9_-]{43}$/),
      approval_token_id: z.string().regex(/^atk_[A-Za-z0-9_-]{1,60}$/),
      expires_in: z.int(),
      expires_at: z.iso.datetime(),
      document_id: z.string(),
      document_slug: z.string(),
      document_version_id: z.string().nullable(),
    }),
  })
  .meta({ id: 'ApprovalTokenResponse' });
export type ApprovalTokenResponse = z.infer<typeof ApprovalTokenResponse>;
