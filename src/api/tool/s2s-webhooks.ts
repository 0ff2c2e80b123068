import type { WebhookDelivery } from '../../../schemas/api/panel/webhook-deliveries.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import type { Admission } from '../../pipeline/admission/admission.js';
import { appendAuditEntry } from '../../platform/audit-log.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { listDeliveries, queueTest, sendAgain } from '../../tenancy/webhooks/deliveries.js';
import { refuseExcess } from '../guards/rate-limit.js';
import type { RateLimiter } from '../guards/rate-limiter.js';
import { type ToolCaller, userOf } from '../server/caller.js';
import { listDeliveriesS2s, sendAgainS2s, testWebhookS2s } from './operations/webhooks.js';
import { reads, type ToolRoute, writes } from './route.js';

/** Test messages of one webhook per minute. */
const TESTS_PER_MINUTE = 5;
const DEFAULT_PAGE = 50;

export interface S2sWebhookOptions {
  readonly admission: Pick<Admission, 'useNonce'>;
  /** Connections in the role `consent_ledger_api`. */
  readonly db: Queryable;
  readonly rateLimiter: RateLimiter;
}

/**
 * Counts a test message of a webhook, however it is requested.
 * @throws ApiError RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE
 */
export async function takeTest(rateLimiter: RateLimiter, siteId: string, webhookId: string): Promise<void> {
  refuseExcess(
    await rateLimiter.take('webhook-test', `${siteId} ${webhookId}`, TESTS_PER_MINUTE),
    'RATE_LIMIT_EXCEEDED',
  );
}

/** Shows backends the messages to the webhooks of the key's site, and sends them again. */
export function s2sWebhookRoutes({ admission, db, rateLimiter }: S2sWebhookOptions): readonly ToolRoute[] {
  /** Queues a message, with its entry in the audit log. */
  const queue = (
    caller: ToolCaller,
    action: 'webhook.test' | 'webhook.send_again',
    work: (db: Queryable) => Promise<{ readonly delivery: WebhookDelivery; readonly details: JsonObject }>,
  ): Promise<{ data: WebhookDelivery }> =>
    withTransaction(db, async (db) => {
      const { delivery, details } = await work(db);
      await appendAuditEntry(db, {
        tenantId: caller.site.tenantId,
        actor: { kind: 'user', userId: userOf(caller).id },
        action,
        subject: { kind: 'webhook', id: delivery.webhook_id },
        details: {
          ...{ site_id: caller.site.siteId, delivery_id: delivery.id, channel: 's2s', api_key_id: caller.apiKey.id },
          ...details,
        },
      });
      return { data: delivery };
    });
  return [
    reads(listDeliveriesS2s, async ({ caller, query }) => {
      const { limit = DEFAULT_PAGE, cursor = null, webhook_id: webhookId = null } = query;
      const { siteId } = caller.site;
      const found = await listDeliveries(db, siteId, { webhookId, after: cursor, limit: limit + 1 });
      const data = found.slice(0, limit);
      return { data, next_cursor: found.length > limit ? (data.at(-1)?.id ?? null) : null };
    }),
    writes(testWebhookS2s, async ({ caller, signed, body }) => {
      await admission.useNonce(signed);
      const { webhook_id: webhookId } = body();
      const { siteId } = caller.site;
      await takeTest(rateLimiter, siteId, webhookId);
      return queue(caller, 'webhook.test', async (db) => ({
        delivery: await queueTest(db, siteId, webhookId),
        details: {},
      }));
    }),
    writes(sendAgainS2s, async ({ caller, signed, body }) => {
      await admission.useNonce(signed);
      const { delivery_id: deliveryId, after_attempt: afterAttempt } = body();
      const wanted = { siteId: caller.site.siteId, webhookId: null, deliveryId, afterAttempt };
      return queue(caller, 'webhook.send_again', async (db) => {
        const { delivery, isQueued } = await sendAgain(db, wanted);
        return { delivery, details: { queued: isQueued } };
      });
    }),
  ];
}
