import * as z from 'zod';
import { DECISIONS, SCOPES } from '../events/consent-recorded.js';
import { WithdrawalUrl } from '../events/site-config.js';
import { Instant } from '../evidence/primitives.js';
import { DecidedCategories, DecidedServices } from './decided.js';
import { STATED_ORIGIN } from './stated-origin.js';
import { TEST_MEMBER } from './test-mark.js';

/**
 * The result of every integrity check. The members that describe the record are null if the stored
 * text is not a valid record.
 */
export const VerifiedRecord = z
  .object({
    consent_type: z.string().nullable().describe('Kind of the consent, for example `cookie`.'),
    decision: z.enum(DECISIONS).nullable().describe('Decision of the person. `partial`: some of the categories.'),
    proof_hash: z.string().describe('HMAC-SHA256 of the record, in hex.'),
    hash_version: z.int().nullable().describe('Version of the hash format.'),
    hash_valid: z.boolean().describe('Whether the proof hash of the stored record is the stored proof hash.'),
    merkle_valid: z
      .boolean()
      .nullable()
      .describe(
        'Whether the record is proved to be in its batch, and the batch in the ledger, or null while the record is in no batch.',
      ),
    is_anonymized: z.boolean().describe('Whether the personal values of the record were erased.'),
    is_tsa_stamped: z
      .boolean()
      .describe('Whether a time stamp covers the batch of the record. The signature of the token is not verified.'),
    created_at: Instant.nullable().describe('When the consent was recorded, or null if the record is unreadable.'),
    ...STATED_ORIGIN,
  })
  .meta({ id: 'VerifiedRecord' });
export type VerifiedRecord = z.infer<typeof VerifiedRecord>;

const TEST_REASON = {
  reason: z.literal('test').optional().describe('Why it is not valid: it is a test record, which is no evidence.'),
};

/** GET /tool/v1/consents/verify/{id} */
export const VerifyResponse = z
  .object({
    valid: z.boolean().describe('Whether every check passed.'),
    ...TEST_REASON,
    data: VerifiedRecord,
    ...TEST_MEMBER,
  })
  .meta({ id: 'VerifyResponse' });
export type VerifyResponse = z.infer<typeof VerifyResponse>;

/** The parameters of public verify, as a query or as a JSON body. */
export const PublicVerifyRequest = z
  .object({
    token: z
      .string()
      .max(8192)
      .nullish()
      .describe('A consent token (`ct_…`), or the value of the cookie `_svc_consent`.'),
    proof_hash: z.string().max(100).nullish().describe('The proof hash of a record.'),
    id: z.string().max(100).nullish().describe('The UUID of a record.'),
  })
  .meta({ id: 'PublicVerifyRequest' });
export type PublicVerifyRequest = z.infer<typeof PublicVerifyRequest>;

/** Public verify of a record that exists. Never an address, a user agent or a visitor id. */
export const PublicVerifyResponse = z
  .object({
    valid: z.boolean().describe('Whether every check passed.'),
    source: z.literal('server').describe('Where the answer comes from.'),
    server_record_found: z.literal(true).describe('Whether the service has a record of this token.'),
    data: VerifiedRecord.extend({
      site_domain: z.string().nullable().describe('Domain of the site, or null if the service does not know it.'),
      withdrawal_url: WithdrawalUrl.nullable().describe(
        'Where the choice can be changed or withdrawn, by the configuration that the record names; null if it states nothing.',
      ),
      categories: DecidedCategories,
      services: DecidedServices,
      language: z.string().nullable().describe('Language (BCP 47).'),
      valid_until: Instant.nullable().describe('Until when the consent is valid, or null for no limit.'),
      scope: z
        .enum(SCOPES)
        .nullable()
        .describe('`account`: for all devices of a person for whom a backend vouches; null: unreadable.'),
      timestamp: z
        .object({
          time: Instant.describe('Time in the time stamp.'),
          checkpoint_size: z.int().describe('Size of the stamped checkpoint.'),
        })
        .nullable()
        .describe('The earliest time stamp that covers the record; null while there is none.'),
    }).describe('The result.'),
  })
  .meta({ id: 'PublicVerifyResponse' });
export type PublicVerifyResponse = z.infer<typeof PublicVerifyResponse>;

/** The members of a cookie for which the service has no record. Anyone can write such a cookie. */
export const ClientTokenFields = z
  .object({
    consent_token: z
      .string()
      .max(100)
      .optional()
      .describe('Identifier of the record, for the person and for verification.'),
    proof_hash: z.string().max(100).optional().describe('HMAC-SHA256 of the record, in hex.'),
    consent_type: z.string().max(50).optional().describe('Kind of the consent, for example `cookie`.'),
    decision: z.string().max(20).optional().describe('Decision of the person. `partial`: some of the categories.'),
    categories: z
      .record(z.string().max(50), z.boolean())
      .optional()
      .describe('The decision on each category: true if accepted.'),
    language: z.string().max(35).optional().describe('Language (BCP 47).'),
    document_version_id: z
      .string()
      .max(100)
      .optional()
      .describe('The version of the document that the person was shown.'),
    created_at: z.string().max(40).optional().describe('When the consent was recorded.'),
    valid_until: z
      .string()
      .max(40)
      .nullable()
      .optional()
      .describe('Until when the consent is valid, or null for no limit.'),
  })
  .meta({ id: 'ClientTokenFields' });
export type ClientTokenFields = z.infer<typeof ClientTokenFields>;

export const ClientTokenResponse = z
  .object({
    valid: z.literal(false).describe('Whether every check passed.'),
    source: z.literal('client_token').describe('Where the answer comes from.'),
    server_record_found: z.literal(false).describe('Whether the service has a record of this token.'),
    ...TEST_REASON,
    data: ClientTokenFields,
  })
  .meta({ id: 'ClientTokenResponse' });
export type ClientTokenResponse = z.infer<typeof ClientTokenResponse>;

/** Public verify of a record, or of a cookie whose record the service does not have. */
export const PublicVerifyAnswer = z
  .discriminatedUnion('source', [PublicVerifyResponse, ClientTokenResponse])
  .meta({ id: 'PublicVerifyAnswer', description: 'The record, or the fields of a cookie whose record is not known.' });
export type PublicVerifyAnswer = z.infer<typeof PublicVerifyAnswer>;
