import { eventIdOfTestToken } from '../../../schemas/events/consent-recorded.js';
import { type ExportOptions, makeReceipt } from '../../evidence/package/index.js';
import { findTestRecord } from '../../evidence/records/test-records.js';
import { appendAuditEntry } from '../../platform/audit-log.js';
import { RequestRefused } from '../../platform/errors.js';
import { userOf } from '../server/caller.js';
import { answerReceipt } from './answer-receipt.js';
import { getReceiptS2s } from './operations/receipts.js';
import { reads, type ToolRoute } from './route.js';

/**
 * Serves receipts of the key's site, with chosen values. Each one that discloses values has an entry
 * in the audit log, written before. A test record has none: nothing proves it.
 */
export function s2sReceiptRoutes(options: ExportOptions): readonly ToolRoute[] {
  return [
    reads(
      getReceiptS2s,
      async ({ caller, params, query, reply }) => {
        const { siteId, tenantId } = caller.site;
        const { disclose: wanted = 'none' } = query;
        const disclose = wanted === 'all' || wanted === 'none' ? wanted : wanted.split(',');
        return answerReceipt(params.token, reply, async (eventId) => {
          if (disclose !== 'none') {
            await appendAuditEntry(options.db, {
              tenantId,
              actor: { kind: 'user', userId: userOf(caller).id },
              action: 'consent.export',
              subject: { kind: 'site', id: siteId },
              details: { filter: ['receipt'], disclosed: true, api_key_id: caller.apiKey.id },
            });
          }
          return makeReceipt(options, eventId, disclose, siteId);
        });
      },
      async ({ caller, params }) => {
        const eventId = eventIdOfTestToken(params.token);
        const found = eventId === null ? null : await findTestRecord(options, caller.site, { eventId });
        if (found?.record.site_id !== caller.site.siteId) throw new RequestRefused('CONSENT_NOT_FOUND');
        throw new RequestRefused('RECEIPT_NOT_READY', 'A test record gets no time stamp, and so never has a receipt.');
      },
    ),
  ];
}
