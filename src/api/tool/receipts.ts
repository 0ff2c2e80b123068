import type { FastifyReply } from 'fastify';
import { ReceiptParams, ReceiptQuery } from '../../../schemas/api/receipts.js';
import { eventIdOfConsentToken, eventIdOfTestToken } from '../../../schemas/events/consent-recorded.js';
import { Receipt } from '../../../schemas/evidence/receipt.js';
import { type ExportOptions, makeReceipt, type ReceiptResult } from '../../evidence/package/index.js';
import { findTestRecord } from '../../evidence/records/test-records.js';
import { appendAuditEntry } from '../../platform/audit-log.js';
import { RequestRefused } from '../../platform/errors.js';
import { userOf } from '../server/caller.js';
import { EXAMPLE_VALUES } from '../server/example-values.js';
import { BACKEND } from '../server/operation.js';
import { routesWith } from '../server/route.js';

export type ReceiptDeps = Pick<ExportOptions, 'db' | 'eventLog' | 'keyring' | 'origin'>;

const route = routesWith<ReceiptDeps>();

/**
 * Serves receipts of the key's site, with chosen values. A receipt that discloses values is entered in the audit log
 * before it is sent. Test records have no receipts, because nothing proves them.
 */
export const RECEIPT_OPERATIONS = [
  route({
    auth: 'tool',
    id: 'getReceiptS2s',
    path: '/tool/v1/s2s/consents/{token}/receipt',
    tag: 'Consents',
    summary: 'Get the receipt of a record, with chosen values',
    description:
      'The evidence of one record in one JSON file, for `consent-verify check`. A receipt that discloses `visitor_id` also opens the person tag of the record. A receipt that discloses values has an entry in the audit log.',
    roles: BACKEND,
    params: ReceiptParams,
    invalidParams: 'CONSENT_NOT_FOUND',
    query: ReceiptQuery,
    response: Receipt,
    errors: ['CONSENT_NOT_FOUND', 'RECEIPT_NOT_READY'],
    example: { path: { token: EXAMPLE_VALUES.consentToken }, query: { disclose: 'signer_name,signer_email' } },
    action: 'consent.export',
    handle: async ({ caller, params, query, reply }, { db, eventLog, keyring, origin }) => {
      const { siteId, tenantId } = caller.site;
      const { disclose: wanted = 'none' } = query;
      const disclose = wanted === 'all' || wanted === 'none' ? wanted : wanted.split(',');
      return answerReceipt(params.token, reply, async (eventId) => {
        if (disclose !== 'none') {
          await appendAuditEntry(db, {
            tenantId,
            actor: { kind: 'user', userId: userOf(caller).id },
            action: 'consent.export',
            subject: { kind: 'site', id: siteId },
            details: { filter: ['receipt'], disclosed: true, api_key_id: caller.apiKey.id },
          });
        }
        return makeReceipt({ db, eventLog, keyring, origin }, eventId, disclose, siteId);
      });
    },
    handleTest: async ({ caller, params }, deps) => {
      const eventId = eventIdOfTestToken(params.token);
      const found = eventId === null ? null : await findTestRecord(deps, caller.site, { eventId });
      if (found?.record.site_id !== caller.site.siteId) throw new RequestRefused('CONSENT_NOT_FOUND');
      throw new RequestRefused('RECEIPT_NOT_READY', 'A test record gets no time stamp, and so never has a receipt.');
    },
  }),
];

/** The service seals within seconds and stamps within about a minute. */
const RETRY_AFTER_SECONDS = 60;

/**
 * Answers a receipt.
 * @param make makes the receipt of the record with this event id
 * @throws RequestRefused CONSENT_NOT_FOUND; RECEIPT_NOT_READY while no time stamp covers the record
 */
export async function answerReceipt(
  token: string,
  reply: FastifyReply,
  make: (eventId: string) => Promise<ReceiptResult>,
): Promise<Receipt> {
  const eventId = eventIdOfConsentToken(token);
  const made: ReceiptResult = eventId === null ? { kind: 'unknown' } : await make(eventId);
  if (made.kind === 'receipt') {
    reply.header('content-disposition', `attachment; filename="receipt-${token}.json"`);
    return made.receipt;
  }
  if (made.kind === 'unknown') throw new RequestRefused('CONSENT_NOT_FOUND');
  throw new RequestRefused('RECEIPT_NOT_READY', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
