import { NoBody, None } from '../../../schemas/api/panel/common.js';
import { ReceiptParams } from '../../../schemas/api/receipts.js';
import { PublicVerifyAnswer, PublicVerifyRequest } from '../../../schemas/api/verify.js';
import { Receipt } from '../../../schemas/evidence/receipt.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { EXAMPLE_VALUES, SHOWN, SHOWN_CHECK } from '../server/example-values.js';
import { AnyQuery, defineOperation, OPEN } from '../server/operation.js';

const SHOWN_PUBLIC_CHECK: JsonObject = {
  valid: true,
  source: 'server',
  server_record_found: true,
  data: {
    ...SHOWN_CHECK,
    site_domain: 'shop.example',
    categories: { necessary: true, analytics: false },
    language: 'en',
    valid_until: SHOWN.validUntil,
    timestamp: { time: '2026-11-21T10:01:00.000Z', checkpoint_size: 7 },
  },
};

const verifying = {
  path: '/api/v1/public/consents/verify',
  tag: 'Public verification',
  description:
    'Anyone may call it, with a consent token or the value of the consent cookie, a proof hash or a record id. If several are given, the first that identifies a record counts, in this order.',
  access: { ...OPEN, limit: 'address' },
  params: None,
  status: 200,
  response: PublicVerifyAnswer,
  errors: ['CONSENT_NOT_FOUND', 'IDENTIFIER_REQUIRED'],
  action: null,
} as const;

export const verifyPublicly = defineOperation({
  ...verifying,
  id: 'verifyPublicly',
  method: 'get',
  summary: 'Check the integrity of one record',
  query: PublicVerifyRequest,
  body: NoBody,
  example: { query: { token: EXAMPLE_VALUES.consentToken }, response: SHOWN_PUBLIC_CHECK },
});

export const verifyPubliclyByPost = defineOperation({
  ...verifying,
  id: 'verifyPubliclyByPost',
  method: 'post',
  summary: 'Check the integrity of one record, identified in the body',
  query: AnyQuery,
  // Without a body nothing is identified, which has a code of its own.
  body: PublicVerifyRequest.optional(),
  bodyLimit: 16_384,
  example: { body: { token: EXAMPLE_VALUES.consentToken }, response: SHOWN_PUBLIC_CHECK },
});

export const getReceipt = defineOperation({
  id: 'getReceipt',
  method: 'get',
  path: '/api/v1/public/consents/{token}/receipt',
  tag: 'Public verification',
  summary: 'Get the receipt of a record',
  description:
    'The evidence of one record in one JSON file, without personal values, for `consent-verify check`. It stays the same, except for cosignatures that arrive later.',
  access: { ...OPEN, limit: 'address' },
  params: ReceiptParams,
  invalidParams: 'CONSENT_NOT_FOUND',
  query: AnyQuery,
  body: NoBody,
  status: 200,
  response: Receipt,
  errors: ['CONSENT_NOT_FOUND', 'RECEIPT_NOT_READY'],
  example: { path: { token: EXAMPLE_VALUES.consentToken } },
  action: null,
});

/** Operations of public verification. */
export const PUBLIC_OPERATIONS = [verifyPublicly, verifyPubliclyByPost, getReceipt];
