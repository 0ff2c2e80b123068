import { NoBody } from '../../../../schemas/api/panel/common.js';
import { ReceiptParams, ReceiptQuery } from '../../../../schemas/api/receipts.js';
import { Receipt } from '../../../../schemas/evidence/receipt.js';
import { EXAMPLE_VALUES } from '../../server/example-values.js';
import { defineOperation } from '../../server/operation.js';
import { BACKEND } from '../access.js';

export const getReceiptS2s = defineOperation({
  id: 'getReceiptS2s',
  method: 'get',
  path: '/tool/v1/s2s/consents/{token}/receipt',
  tag: 'Consents',
  summary: 'Get the receipt of a record, with chosen values',
  description:
    'The evidence of one record in one JSON file, for `consent-verify check`. A receipt that discloses `visitor_id` also opens the person tag of the record. A receipt that discloses values has an entry in the audit log.',
  access: BACKEND,
  params: ReceiptParams,
  invalidParams: 'CONSENT_NOT_FOUND',
  query: ReceiptQuery,
  body: NoBody,
  status: 200,
  response: Receipt,
  errors: ['CONSENT_NOT_FOUND', 'RECEIPT_NOT_READY'],
  example: { path: { token: EXAMPLE_VALUES.consentToken }, query: { disclose: 'signer_name,signer_email' } },
  action: 'consent.export',
});

/** Receipts for backends. */
export const RECEIPT_OPERATIONS = [getReceiptS2s];
