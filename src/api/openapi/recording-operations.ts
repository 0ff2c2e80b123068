import { ExportQuery, NDJSON_MEDIA_TYPE } from '../../../schemas/api/export.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { OF_CONSENTS, WITH_BODY } from './error-groups.js';
import type { Operation } from './operation.js';
import { SHOWN_ACCEPTED, SHOWN_BATCH, SHOWN_EXPORT } from './shown-responses.js';
import { EXAMPLE_VALUES, SHOWN } from './values.js';

const COOKIE_CONSENT: JsonObject = {
  consent_type: 'cookie',
  decision: 'partial',
  document_version_id: EXAMPLE_VALUES.versionId,
  language: 'en',
  categories: { necessary: true, analytics: false },
  visitor_id: EXAMPLE_VALUES.visitorId,
  compliance_framework: 'gdpr',
};

const keyed = (idempotencyKey: string): JsonObject => ({ ...COOKIE_CONSENT, idempotency_key: idempotencyKey });

const ACCEPTED_HEADERS = {
  'Idempotency-Mismatch':
    '“true” where the idempotency key was seen before with another body: the original answer stands.',
};
const RECORDING = {
  description:
    '202: all checks passed, and the record is durable; status and verify find it a moment later. Send one idempotency_key for each action of the user, and the same one in every retry.',
  status: 202,
  headers: ACCEPTED_HEADERS,
  errors: [...WITH_BODY, ...OF_CONSENTS],
} as const;

/** The routes that record consents and mint approval tokens, and the export. */
export const RECORDING_OPERATIONS: readonly Operation[] = [
  {
    ...RECORDING,
    id: 'recordConsent',
    method: 'post',
    path: '/tool/v1/consents',
    summary: 'Record one consent (browser and mobile)',
    access: 'signed key',
    body: 'BrowserConsentRequest',
    response: 'ConsentResponse',
    example: { body: keyed('checkout-7f3a-1'), response: SHOWN_ACCEPTED },
  },
  {
    ...RECORDING,
    id: 'recordConsentBatch',
    method: 'post',
    path: '/tool/v1/consents/batch',
    summary: 'Record 1 to 100 consents',
    access: 'signed key',
    body: 'BrowserConsentBatchRequest',
    response: 'ConsentBatchResponse',
    example: { body: { consents: [keyed('checkout-7f3a-2')] }, response: SHOWN_BATCH },
  },
  {
    ...RECORDING,
    id: 'recordConsentS2s',
    method: 'post',
    path: '/tool/v1/s2s/consents',
    summary: 'Record one consent from a backend',
    access: 'signed key and bearer',
    body: 'S2sConsentRequest',
    response: 'ConsentResponse',
    example: {
      body: {
        ...keyed('order-10023'),
        ip_address: '198.51.100.4',
        user_agent: 'Mozilla/5.0',
        otp_verified: true,
        otp_reference: 'otp-77',
      },
      response: SHOWN_ACCEPTED,
    },
  },
  {
    ...RECORDING,
    id: 'recordConsentBatchS2s',
    method: 'post',
    path: '/tool/v1/s2s/consents/batch',
    summary: 'Record 1 to 100 consents from a backend',
    access: 'signed key and bearer',
    body: 'S2sConsentBatchRequest',
    response: 'ConsentBatchResponse',
    example: {
      body: {
        consents: [
          {
            consent_type: 'document_approval',
            decision: 'accepted',
            document_version_id: EXAMPLE_VALUES.approvalVersionId,
            approval_token: EXAMPLE_VALUES.approvalToken,
            idempotency_key: 'order-10024',
          },
        ],
      },
      response: SHOWN_BATCH,
    },
  },
  {
    id: 'mintApprovalToken',
    method: 'post',
    path: '/tool/v1/s2s/approval-tokens',
    summary: 'Mint a one-time approval token',
    access: 'signed key and bearer',
    body: 'ApprovalTokenRequest',
    status: 201,
    response: 'ApprovalTokenResponse',
    errors: [...WITH_BODY, 'DOCUMENT_NOT_FOUND', 'VERSION_NOT_FOUND', 'ADMISSION_UNAVAILABLE'],
    example: {
      body: {
        document_slug: 'explicit-consent',
        subject: EXAMPLE_VALUES.visitorId,
        otp_verified: true,
        expires_in: 600,
      },
      response: {
        message: 'Approval token minted.',
        data: {
          approval_token: EXAMPLE_VALUES.approvalToken,
          approval_token_id: 'atk_1xYb0cK9',
          expires_in: 600,
          expires_at: SHOWN.expiresAt,
          document_id: SHOWN.documentId,
          document_slug: 'explicit-consent',
          document_version_id: null,
        },
      },
    },
  },
  {
    id: 'exportConsents',
    method: 'get',
    path: '/tool/v1/s2s/consents/export',
    summary: 'Export consent records with every field',
    description:
      'In the order of recording. Pages of JSON of at most 1000 records; go on with next_cursor until it is null. Or NDJSON, one record a line (format=ndjson, or Accept: application/x-ndjson), of any length: an answer that ends early goes on behind the cursor of its last whole line. Attachments stand in the field that they came in, as text or base64 (see attachments). An erased record keeps its public part, and is_anonymized is true.',
    access: 'key and bearer',
    query: ExportQuery,
    status: 200,
    response: 'ExportResponse',
    otherMediaType: { name: NDJSON_MEDIA_TYPE, description: 'One ExportedConsent as JSON on each line.' },
    errors: ['VALIDATION_ERROR'],
    example: {
      query: { visitor_id: EXAMPLE_VALUES.visitorId, from: '2026-01-01T00:00:00Z', limit: '500' },
      response: SHOWN_EXPORT,
    },
  },
];
