import { ApprovalTokenRequest, ApprovalTokenResponse } from '../../../../schemas/api/approval-tokens.js';
import {
  APPROVAL_TOKEN_BODY_BYTES,
  DEFAULT_BATCH_BODY_BYTES,
  SINGLE_BODY_BYTES,
} from '../../../../schemas/api/consent-limits.js';
import {
  BrowserConsentBatchRequest,
  BrowserConsentRequest,
  ConsentBatchResponse,
  ConsentResponse,
  S2sConsentBatchRequest,
  S2sConsentRequest,
} from '../../../../schemas/api/consents.js';
import { CONSENT_ERROR_CODES } from '../../../../schemas/api/error-codes.js';
import {
  CSV_MEDIA_TYPE,
  ExportQuery,
  ExportResponse,
  NDJSON_MEDIA_TYPE,
  PARQUET_MEDIA_TYPE,
} from '../../../../schemas/api/export.js';
import { NoBody, None } from '../../../../schemas/api/panel/common.js';
import type { JsonObject } from '../../../../schemas/json/json-value.js';
import { EXAMPLE_VALUES, SHOWN } from '../../server/example-values.js';
import { AnyQuery, defineOperation } from '../../server/operation.js';
import { BACKEND, SIGNED_BACKEND, SIGNED_KEY } from '../access.js';
import { SHOWN_ACCEPTED, SHOWN_BATCH, SHOWN_EXPORT } from './shown-responses.js';

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

const recording = {
  method: 'post',
  tag: 'Consents',
  description:
    '202 means that all checks passed and that the record is durable; status and verify return it a moment later. Use one `idempotency_key` for each action of the user, and the same key in each retry.',
  params: None,
  query: AnyQuery,
  status: 202,
  headers: {
    'Idempotency-Mismatch':
      '`true` if the idempotency key was used before with a different body; the response is that of the first request.',
  },
  errors: CONSENT_ERROR_CODES,
  action: null,
} as const;

export const recordConsent = defineOperation({
  ...recording,
  id: 'recordConsent',
  path: '/tool/v1/consents',
  summary: 'Record one consent from a browser or a mobile app',
  access: SIGNED_KEY,
  body: BrowserConsentRequest,
  bodyLimit: SINGLE_BODY_BYTES,
  response: ConsentResponse,
  example: { body: keyed('checkout-7f3a-1'), response: SHOWN_ACCEPTED },
});

export const recordConsentBatch = defineOperation({
  ...recording,
  id: 'recordConsentBatch',
  path: '/tool/v1/consents/batch',
  summary: 'Record 1 to 100 consents from a browser or a mobile app',
  access: SIGNED_KEY,
  body: BrowserConsentBatchRequest,
  bodyLimit: DEFAULT_BATCH_BODY_BYTES,
  response: ConsentBatchResponse,
  example: { body: { consents: [keyed('checkout-7f3a-2')] }, response: SHOWN_BATCH },
});

export const recordConsentS2s = defineOperation({
  ...recording,
  id: 'recordConsentS2s',
  path: '/tool/v1/s2s/consents',
  summary: 'Record one consent from a backend',
  access: SIGNED_BACKEND,
  body: S2sConsentRequest,
  bodyLimit: SINGLE_BODY_BYTES,
  response: ConsentResponse,
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
});

export const recordConsentBatchS2s = defineOperation({
  ...recording,
  id: 'recordConsentBatchS2s',
  path: '/tool/v1/s2s/consents/batch',
  summary: 'Record 1 to 100 consents from a backend',
  access: SIGNED_BACKEND,
  body: S2sConsentBatchRequest,
  bodyLimit: DEFAULT_BATCH_BODY_BYTES,
  response: ConsentBatchResponse,
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
});

export const mintApprovalToken = defineOperation({
  id: 'mintApprovalToken',
  method: 'post',
  path: '/tool/v1/s2s/approval-tokens',
  tag: 'Consents',
  summary: 'Mint a one-time approval token',
  access: SIGNED_BACKEND,
  params: None,
  query: AnyQuery,
  body: ApprovalTokenRequest,
  bodyLimit: APPROVAL_TOKEN_BODY_BYTES,
  status: 201,
  response: ApprovalTokenResponse,
  errors: ['DOCUMENT_NOT_FOUND', 'VERSION_NOT_FOUND', 'ADMISSION_UNAVAILABLE'],
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
  action: null,
});

export const exportConsents = defineOperation({
  id: 'exportConsents',
  method: 'get',
  path: '/tool/v1/s2s/consents/export',
  tag: 'Consents',
  summary: 'Export consent records with every field, or with chosen ones',
  description:
    'Records come in the order in which they were recorded. JSON comes in pages of at most 1,000 records; pass `next_cursor` as `cursor` until it is null. NDJSON (`format=ndjson`, or `Accept: application/x-ndjson`) has one record a line and no limit; after a response that ended early, continue with the `cursor` of its last complete line. CSV (`format=csv`, or `Accept: text/csv`) is the same with a header line; objects and lists in it are JSON, and a text that a spreadsheet would evaluate as a formula has an apostrophe in front; with `excel=tr-TR` it begins with a byte-order mark and has the separator that Excel expects with that language. Parquet (`format=parquet`, or `Accept: application/vnd.apache.parquet`) has the same columns, with times, flags and numbers in their types, and at most `limit` rows, which it requires, or fewer if they are large: continue with the `cursor` of the last row until a file has no rows; a file whose response ended early cannot be read. An attachment is in the field in which it was sent, as text or base64 (see `attachments`). An erased record keeps its public part, and its `is_anonymized` is true.',
  access: BACKEND,
  params: None,
  query: ExportQuery,
  body: NoBody,
  status: 200,
  response: ExportResponse,
  alternatives: [
    {
      mediaType: NDJSON_MEDIA_TYPE,
      description: 'One ExportedConsent, ExportedFields or ExportedErasure as JSON on each line.',
    },
    { mediaType: CSV_MEDIA_TYPE, description: 'A line of names, then one record a line.' },
    { mediaType: PARQUET_MEDIA_TYPE, description: 'A Parquet file with a column for each field.' },
  ],
  errors: [],
  example: {
    query: { visitor_id: EXAMPLE_VALUES.visitorId, from: '2026-01-01T00:00:00Z', limit: '500' },
    response: SHOWN_EXPORT,
  },
  action: 'consent.export',
});

/** Operations that record consents and mint approval tokens, and the record export. */
export const RECORDING_OPERATIONS = [
  recordConsent,
  recordConsentBatch,
  recordConsentS2s,
  recordConsentBatchS2s,
  mintApprovalToken,
  exportConsents,
];
