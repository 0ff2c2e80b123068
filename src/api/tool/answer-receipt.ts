import type { FastifyReply } from 'fastify';
import { eventIdOfConsentToken } from '../../../schemas/events/consent-recorded.js';
import type { Receipt } from '../../../schemas/evidence/receipt.js';
import type { ReceiptResult } from '../../evidence/package/index.js';
import { RequestRefused } from '../../platform/errors.js';

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
