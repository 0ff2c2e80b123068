import * as z from 'zod';
import { InputUuid } from './common.js';
import { CONSENT_LIMITS } from './consent-limits.js';
import { TEST_MEMBER } from './test-mark.js';

const { least, most } = CONSENT_LIMITS.approvalTokenSeconds;

export const ApprovalTokenRequest = z
  .object({
    document_slug: z
      .string()
      .min(1)
      .max(80)
      .nullish()
      .describe(
        'Slug of the document. This or `document_version_id` is required. If both are given, they must name the same document.',
      ),
    document_version_id: InputUuid.nullish().describe(
      'UUID of the only version for which the token is valid; null: the version that is active when the token is used.',
    ),
    subject: z
      .string()
      .min(1)
      .max(CONSENT_LIMITS.visitorId)
      .describe('`visitor_id` of the person who may use the token.'),
    signer_name: z.string().max(CONSENT_LIMITS.signerName).nullish().describe('Name of the person who signed.'),
    signer_email: z
      .string()
      .max(CONSENT_LIMITS.signerEmail)
      .nullish()
      .describe('E-mail address of the person who signed.'),
    signer_phone: z
      .string()
      .max(CONSENT_LIMITS.signerPhone)
      .nullish()
      .describe('Telephone number of the person who signed.'),
    signer_id_number: z
      .string()
      .max(CONSENT_LIMITS.signerIdNumber)
      .nullish()
      .describe('Identity document number of the person who signed.'),
    otp_verified: z.boolean().nullish().describe('Whether the backend verified a one-time password of the person.'),
    otp_reference: z
      .string()
      .max(CONSENT_LIMITS.otpReference)
      .nullish()
      .describe('Reference of that verification at the backend.'),
    custom_document_hash: z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hex digits')
      .nullish()
      .describe('SHA-256 of the document that was made for this person, in hex.'),
    expires_in: z
      .int()
      .min(least)
      .max(most)
      .nullish()
      .describe('Seconds until the token expires, 30 to 3,600; 600 if absent.'),
  })
  .refine((request) => request.document_slug != null || request.document_version_id != null, {
    path: ['document_slug'],
    error: 'document_slug or document_version_id is required',
  })
  .meta({ id: 'ApprovalTokenRequest' });
export type ApprovalTokenRequest = z.infer<typeof ApprovalTokenRequest>;

export const ApprovalTokenResponse = z
  .object({
    message: z.string().describe('What was done, in words.'),
    data: z
      .object({
        approval_token: z
          .string()
          .regex(/^hat_(?:test_)?[A-Za-z0-9_-]{43}$/)
          .describe('The token. The service returns it only in this response.'),
        approval_token_id: z
          .string()
          .regex(/^atk_[A-Za-z0-9_-]{1,60}$/)
          .describe('Identifier of the token in records.'),
        expires_in: z.int().describe('Seconds until the token expires.'),
        expires_at: z.iso.datetime().describe('Until when the token is valid.'),
        document_id: z.string().describe('The document.'),
        document_slug: z.string().describe('Slug of the document.'),
        document_version_id: z
          .string()
          .nullable()
          .describe('The only version for which the token is valid; null: the active one.'),
      })
      .describe('The result.'),
    ...TEST_MEMBER,
  })
  .meta({ id: 'ApprovalTokenResponse' });
export type ApprovalTokenResponse = z.infer<typeof ApprovalTokenResponse>;
