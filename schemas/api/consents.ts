import * as z from 'zod';
import { COMPLIANCE_FRAMEWORKS, DECISIONS, SCOPES } from '../events/consent-recorded.js';
import { Presentation } from '../evidence/presentation.js';
import { SignedPromise } from '../evidence/promise.js';
import { IabSignals } from '../iab/iab-signals.js';
import { InputUuid, Warnings } from './common.js';
import { CONSENT_LIMITS } from './consent-limits.js';
import { TEST_MEMBER } from './test-mark.js';

const optionalText = (max: number) => z.string().max(max).nullish();
const optionalObject = z.record(z.string(), z.unknown()).meta({ maxProperties: 30 }).nullish();

export const IdempotencyKey = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{8,64}$/, 'must be 8 to 64 characters of A-Z a-z 0-9 . _ : -');

/**
 * Fields of a consent: the text and the question that the person was shown, and the person's
 * decision. A field that is null counts as absent; unknown fields are ignored.
 */
const consentFields = {
  consent_type: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,50}$/, `must be 1 to ${CONSENT_LIMITS.consentType} characters of A-Z a-z 0-9 _ - .`)
    .describe(
      'Kind of the consent, for example `cookie` or `document_approval`. `objection`: the person objects to what runs without consent.',
    ),
  decision: z
    .enum(DECISIONS)
    .describe(
      'What the person decided. `partial`: some of the categories. An `objection` is `rejected`, or `withdrawn` when it is taken back; another decision is refused.',
    ),
  document_version_id: InputUuid.nullish().describe(
    'UUID of the document version that the person was shown. Required: without one that is active, the response is 409 CONFIG_OUTDATED.',
  ),
  language: optionalText(35).describe(
    'Language in which the person was asked (BCP 47); that of the version if absent.',
  ),
  categories: z
    .record(z.string(), z.boolean())
    .nullish()
    .describe(
      'The decision on each category: true if accepted. A required category must not be false. If `decision` is `rejected`, no optional category may be true. An `objection` names what is objected to, each as false, and none when it is taken back.',
    ),
  services: z
    .record(z.string(), z.boolean())
    .nullish()
    .describe(
      'The decision on each service, if the site has switches for them; its category’s if absent. A category with a refused service must be false.',
    ),
  rule_id: optionalText(50).describe(
    'Rule of the configuration by which the person was asked, from `rule_id` of /tool/v1/config. One that the configuration in force does not have is ignored.',
  ),
  idempotency_key: IdempotencyKey.nullish().describe('One key for each action of the person; repeat it in each retry.'),
  visitor_id: z
    .string()
    .min(1)
    .max(CONSENT_LIMITS.visitorId)
    .nullish()
    .describe('Identifier of the person at the site. Later requests find the consent by it.'),
  visitor_region: optionalText(CONSENT_LIMITS.visitorRegion).describe('Region of the person, for example a US state.'),
  visitor_country: optionalText(CONSENT_LIMITS.visitorCountry).describe('Country of the person (ISO 3166-1 alpha-2).'),
  compliance_framework: z.enum(COMPLIANCE_FRAMEWORKS).nullish().describe('Law under which the person was asked.'),
  source: optionalText(CONSENT_LIMITS.source).describe('Where the person was asked, for example `web` or `ios`.'),
  metadata: optionalObject.describe('Further values, at most 30 keys and 16,384 bytes as JSON.'),
  extra_fields: optionalObject.describe(
    'Values of further form fields, at most 30 keys of 100 characters, and 16,384 bytes as JSON.',
  ),
  presentation: Presentation.nullish().describe(
    'How the question was shown to the person, as the caller states it. Unknown members are refused.',
  ),
  iab: IabSignals.nullish().describe(
    'Strings of IAB that the page gave to advertisers with this choice. Unknown members are refused.',
  ),
  scope: z
    .enum(SCOPES)
    .nullish()
    .describe(
      'Whose choice it is: `account`, that of the person on every device, or `device`. `account` counts where the configuration has `accounts` and a backend vouches for the person: by `person_token`, or over S2S with `visitor_id`. If absent: `account` with a `person_token`, else `device`.',
    ),
  approval_token: optionalText(CONSENT_LIMITS.oneTimeToken).describe(
    'One-time token of /tool/v1/s2s/approval-tokens, for documents that require one.',
  ),
  person_token: optionalText(CONSENT_LIMITS.oneTimeToken).describe(
    'One-time token of /tool/v1/s2s/person-tokens, which names the person. Not beside `approval_token`.',
  ),
  signature_image: z
    .string()
    .nullish()
    .describe('Drawn signature as canonical base64, also as a data: URL; at most 262,144 bytes when decoded.'),
  signature_mime_type: optionalText(100).describe(
    'Media type of `signature_image`: `image/png`, `image/jpeg` or `image/webp`.',
  ),
  signer_name: optionalText(CONSENT_LIMITS.signerName).describe('Name of the person who signed.'),
  signer_email: optionalText(CONSENT_LIMITS.signerEmail).describe('E-mail address of the person who signed.'),
  signer_phone: optionalText(CONSENT_LIMITS.signerPhone).describe('Telephone number of the person who signed.'),
  signer_id_number: optionalText(CONSENT_LIMITS.signerIdNumber).describe(
    'Identity document number of the person who signed.',
  ),
  declaration_text: optionalText(CONSENT_LIMITS.declarationText).describe('Declaration that the person confirmed.'),
  drawing_duration_ms: z
    .number()
    .min(0)
    .max(CONSENT_LIMITS.drawingDurationMs)
    .nullish()
    .describe('How long the person drew the signature, in milliseconds.'),
  stroke_count: z
    .int()
    .min(0)
    .max(CONSENT_LIMITS.strokeCount)
    .nullish()
    .describe('Number of strokes of the drawn signature.'),
  strokes_data: z
    .union([z.string(), z.array(z.unknown()), z.record(z.string(), z.unknown())])
    .nullish()
    .describe('Strokes of the drawn signature: a text, a list or an object, at most 65,536 bytes as JSON.'),
  input_type: optionalText(CONSENT_LIMITS.inputType).describe(
    'How the person drew the signature, for example `touch`.',
  ),
  screen_resolution: optionalText(CONSENT_LIMITS.screenResolution).describe(
    'Screen resolution, for example `1920x1080`.',
  ),
  custom_document_content: z
    .string()
    .nullish()
    .describe(
      'Document that was made for this person: text, a PDF as canonical base64, or a base64 `data:` URL; 1 to 1,048,576 bytes when decoded.',
    ),
  custom_document_mime_type: optionalText(100).describe(
    'Media type of `custom_document_content`: `text/plain`, `text/html`, `text/markdown` or `application/pdf`. Required, unless the content is a `data:` URL, which states its own.',
  ),
};

export const BrowserConsentRequest = z.object(consentFields).meta({ id: 'BrowserConsentRequest' });
export type BrowserConsentRequest = z.infer<typeof BrowserConsentRequest>;

/**
 * A backend can also state the person's connection, and the result of an OTP check that the backend
 * made.
 */
export const S2sConsentRequest = z
  .object({
    ...consentFields,
    ip_address: z
      .union([z.ipv4(), z.ipv6()])
      .nullish()
      .describe('IPv4 or IPv6 address of the person, as the backend saw it.'),
    user_agent: optionalText(CONSENT_LIMITS.userAgent).describe('User agent of the person, as the backend saw it.'),
    presentation_screenshot: z
      .string()
      .nullish()
      .describe('Picture of what was shown, as base64 of a PNG, JPEG or WebP, at most 524,288 bytes when decoded.'),
    otp_verified: z.boolean().nullish().describe('Whether the backend verified a one-time password of the person.'),
    otp_reference: optionalText(CONSENT_LIMITS.otpReference).describe('Reference of that verification at the backend.'),
  })
  .meta({ id: 'S2sConsentRequest' });
export type S2sConsentRequest = z.infer<typeof S2sConsentRequest>;

/** A consent of either channel. */
export type ConsentRequest = BrowserConsentRequest & Partial<S2sConsentRequest>;

const batchOf = <T extends z.ZodType>(item: T) =>
  z.object({
    consents: z
      .array(item)
      .min(1)
      .max(CONSENT_LIMITS.batchItems)
      .describe('Consents, each with a decision and a result of its own.'),
  });
export const BrowserConsentBatchRequest = batchOf(BrowserConsentRequest).meta({ id: 'BrowserConsentBatchRequest' });
export const S2sConsentBatchRequest = batchOf(S2sConsentRequest).meta({ id: 'S2sConsentBatchRequest' });

const acceptance = {
  consent_token: z
    .string()
    .regex(/^ct_(?:test_)?[0-9a-f]{32}$/)
    .describe('Identifier of the record, for the person and for verification.'),
  proof_hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('HMAC-SHA256 of the record, in hex.'),
  created_at: z.iso.datetime().describe('When the service recorded the consent.'),
  duplicate: z
    .boolean()
    .describe('Whether this consent was recorded by an earlier request with the same idempotency key.'),
  promise: SignedPromise.nullable().describe(
    'Signed promise that the record is sealed before a stated time. Keep it: `consent-verify check --promise` shows whether it was kept. Null if the service could not sign it, and for a test record.',
  ),
};

const warnings = Warnings.describe(
  'What was ignored: unknown members, categories and rules; a `scope` of `account` that does not count; an unknown `consent_type`, which was recorded; and `idempotency_key`, if the key was used before with another consent. Absent if there is nothing.',
);

export const ConsentResponse = z
  .object({
    message: z.string().describe('What was done, in words.'),
    data: z.object({ ...acceptance, warnings }).describe('The result.'),
    ...TEST_MEMBER,
  })
  .meta({ id: 'RecordedConsentResponse' });
export type ConsentResponse = z.infer<typeof ConsentResponse>;

const index = z.int().describe('Position of the consent in the request, from 0.');

export const BatchItemResult = z
  .discriminatedUnion('status', [
    z
      .object({ index, status: z.literal('accepted').describe('It was recorded.'), ...acceptance, warnings })
      .meta({ id: 'AcceptedBatchItem' }),
    z
      .object({
        index,
        status: z.literal('rejected').describe('It was refused.'),
        error: z.string().describe('The error in words, and what to do next.'),
        error_code: z.string().describe('Stable code of the error.'),
        code: z.int().describe('HTTP status that the consent alone would have had.'),
      })
      .meta({ id: 'RejectedBatchItem' }),
  ])
  .meta({ id: 'BatchItemResult', description: 'The result of one consent of a batch.' });
export type BatchItemResult = z.infer<typeof BatchItemResult>;

export const ConsentBatchResponse = z
  .object({
    message: z.string().describe('What was done, in words.'),
    data: z
      .object({
        accepted: z.int().describe('Consents that were recorded.'),
        rejected: z.int().describe('Consents that were refused.'),
        results: z.array(BatchItemResult).describe('One result for each consent, in the order of the request.'),
      })
      .describe('The result.'),
    ...TEST_MEMBER,
  })
  .meta({ id: 'ConsentBatchResponse' });
export type ConsentBatchResponse = z.infer<typeof ConsentBatchResponse>;
