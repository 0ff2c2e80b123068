import { z } from 'zod';
import { DECISIONS } from '../events/consent-recorded.js';
import { Instant } from '../evidence/primitives.js';

/**
 * The result of every integrity check. The members that describe the record are null if the stored
 * text is not a valid record.
 */
export const VerifiedRecord = z
  .object({
    consent_type: z.string().nullable(),
    decision: z.enum(DECISIONS).nullable(),
    proof_hash: z.string(),
    hash_version: z.int().nullable(),
    hash_valid: z.boolean().describe('Whether the proof hash of the stored record is the stored proof hash.'),
    merkle_valid: z
      .boolean()
      .nullable()
      .describe(
        'Whether the record is proved to be in its batch, and the batch in the ledger; null while the record is in no batch.',
      ),
    is_anonymized: z.boolean().describe('Whether the personal values of the record were erased.'),
    is_tsa_stamped: z
      .boolean()
      .describe('Whether a time stamp covers the batch of the record. The signature of the token is not verified.'),
    created_at: Instant.nullable(),
  })
  .meta({ id: 'VerifiedRecord' });
export type VerifiedRecord = z.infer<typeof VerifiedRecord>;

/** GET /tool/v1/consents/verify/{id} */
export const VerifyResponse = z.object({ valid: z.boolean(), data: VerifiedRecord }).meta({ id: 'VerifyResponse' });
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
    valid: z.boolean(),
    source: z.literal('server'),
    server_record_found: z.literal(true),
    data: VerifiedRecord.extend({
      site_domain: z.string().nullable(),
      categories: z.record(z.string(), z.boolean()).nullable(),
      language: z.string().nullable(),
      valid_until: Instant.nullable(),
      timestamp: z
        .object({ time: Instant, checkpoint_size: z.int() })
        .nullable()
        .describe('The earliest time stamp that covers the record; null while there is none.'),
    }),
  })
  .meta({ id: 'PublicVerifyResponse' });
export type PublicVerifyResponse = z.infer<typeof PublicVerifyResponse>;

/** The members of a cookie for which the service has no record. Anyone can write such a cookie. */
export const ClientTokenFields = z
  .object({
    consent_token: z.string().max(100).optional(),
    proof_hash: z.string().max(100).optional(),
    consent_type: z.string().max(50).optional(),
    decision: z.string().max(20).optional(),
    categories: z.record(z.string().max(50), z.boolean()).optional(),
    language: z.string().max(35).optional(),
    document_version_id: z.string().max(100).optional(),
    created_at: z.string().max(40).optional(),
    valid_until: z.string().max(40).nullable().optional(),
  })
  .meta({ id: 'ClientTokenFields' });
export type ClientTokenFields = z.infer<typeof ClientTokenFields>;

export const ClientTokenResponse = z
  .object({
    valid: z.literal(false),
    source: z.literal('client_token'),
    server_record_found: z.literal(false),
    data: ClientTokenFields,
  })
  .meta({ id: 'ClientTokenResponse' });
export type ClientTokenResponse = z.infer<typeof ClientTokenResponse>;

/** Public verify of a record, or of a cookie whose record the service does not have. */
export const PublicVerifyAnswer = z
  .union([PublicVerifyResponse, ClientTokenResponse])
  .meta({ id: 'PublicVerifyAnswer' });
export type PublicVerifyAnswer = z.infer<typeof PublicVerifyAnswer>;
