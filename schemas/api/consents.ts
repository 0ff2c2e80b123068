import { z } from 'zod';
import { COMPLIANCE_FRAMEWORKS, DECISIONS } from '../events/consent-recorded.js';
import { CONSENT_LIMITS } from './consent-limits.js';

const optionalText = (max: number) => z.string().max(max).nullish();
const optionalObject = z.record(z.string(), z.unknown()).nullish();

/** A UUID in either case. */
export const AnyUuid = z
  .string()
  .regex(/^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/, 'must be a UUID');

export const IdempotencyKey = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{8,64}$/, 'must be 8 to 64 characters of A-Z a-z 0-9 . _ : -');

/** What the person was shown, asked and did. An optional field that is null counts as absent; fields not named here are ignored. */
const consentFields = {
  consent_type: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,50}$/, `must be 1 to ${CONSENT_LIMITS.consentType} characters of A-Z a-z 0-9 _ - .`),
  decision: z.enum(DECISIONS),
  document_version_id: AnyUuid.nullish(),
  language: optionalText(35),
  categories: z.record(z.string(), z.boolean()).nullish(),
  idempotency_key: IdempotencyKey.nullish(),
  visitor_id: z.string().min(1).max(CONSENT_LIMITS.visitorId).nullish(),
  visitor_region: optionalText(CONSENT_LIMITS.visitorRegion),
  visitor_country: optionalText(CONSENT_LIMITS.visitorCountry),
  compliance_framework: z.enum(COMPLIANCE_FRAMEWORKS).nullish(),
  source: optionalText(CONSENT_LIMITS.source),
  metadata: optionalObject,
  extra_fields: optionalObject,
  approval_token: optionalText(200),
  signature_image: z.string().nullish(),
  signature_mime_type: optionalText(100),
  signer_name: optionalText(CONSENT_LIMITS.signerName),
  signer_email: optionalText(CONSENT_LIMITS.signerEmail),
  signer_phone: optionalText(CONSENT_LIMITS.signerPhone),
  signer_id_number: optionalText(CONSENT_LIMITS.signerIdNumber),
  declaration_text: optionalText(CONSENT_LIMITS.declarationText),
  drawing_duration_ms: z.number().min(0).max(CONSENT_LIMITS.drawingDurationMs).nullish(),
  stroke_count: z.int().min(0).max(CONSENT_LIMITS.strokeCount).nullish(),
  strokes_data: z.union([z.string(), z.array(z.unknown()), z.record(z.string(), z.unknown())]).nullish(),
  input_type: optionalText(CONSENT_LIMITS.inputType),
  screen_resolution: optionalText(CONSENT_LIMITS.screenResolution),
  custom_document_content: z.string().nullish(),
  custom_document_mime_type: optionalText(100),
};

export const BrowserConsentRequest = z.object(consentFields).meta({ id: 'BrowserConsentRequest' });
export type BrowserConsentRequest = z.infer<typeof BrowserConsentRequest>;

/** On S2S routes a backend also says what it knows of the person's connection, and of an OTP check of its own. */
export const S2sConsentRequest = z
  .object({
    ...consentFields,
    ip_address: z.union([z.ipv4(), z.ipv6()]).nullish(),
    user_agent: optionalText(CONSENT_LIMITS.userAgent),
    otp_verified: z.boolean().nullish(),
    otp_reference: optionalText(CONSENT_LIMITS.otpReference),
  })
  .meta({ id: 'S2sConsentRequest' });
export type S2sConsentRequest = z.infer<typeof S2sConsentRequest>;

/** A consent as either route takes it. */
export type ConsentRequest = BrowserConsentRequest & Partial<S2sConsentRequest>;

const batchOf = <T extends z.ZodType>(item: T) =>
  z.object({ consents: z.array(item).min(1).max(CONSENT_LIMITS.batchItems) });
export const BrowserConsentBatchRequest = batchOf(BrowserConsentRequest).meta({ id: 'BrowserConsentBatchRequest' });
export const S2sConsentBatchRequest = batchOf(S2sConsentRequest).meta({ id: 'S2sConsentBatchRequest' });

const acceptance = {
  consent_token: z.string().regex(/^ct_[0-9a-f]{32}$/),
  proof_hash: z.string().regex(/^[0-9a-f]{64}$/),
  created_at: z.iso.datetime(),
  duplicate: z.boolean(),
};

export const ConsentResponse = z
  .object({ message: z.string(), data: z.object(acceptance) })
  .meta({ id: 'RecordedConsentResponse' });
export type ConsentResponse = z.infer<typeof ConsentResponse>;

export const BatchItemResult = z
  .discriminatedUnion('status', [
    z.object({ index: z.int(), status: z.literal('accepted'), ...acceptance }),
    z.object({
      index: z.int(),
      status: z.literal('rejected'),
      error: z.string(),
      error_code: z.string(),
      code: z.int(),
    }),
  ])
  .meta({ id: 'BatchItemResult' });
export type BatchItemResult = z.infer<typeof BatchItemResult>;

export const ConsentBatchResponse = z
  .object({
    message: z.string(),
    data: z.object({ accepted: z.int(), rejected: z.int(), results: z.array(BatchItemResult) }),
  })
  .meta({ id: 'ConsentBatchResponse' });
export type ConsentBatchResponse = z.infer<typeof ConsentBatchResponse>;
