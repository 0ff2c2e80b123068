import {
  DeliveriesAnswer,
  DeliveriesQuery,
  DeliveryAnswer,
  SendDeliveryAgainRequest,
  TestWebhookRequest,
  type WebhookDelivery,
} from '../../../schemas/api/panel/webhook-deliveries.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import type { Admission } from '../../pipeline/admission/admission.js';
import { appendAuditEntry } from '../../platform/audit-log.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { listDeliveries, queueTest, sendAgain } from '../../tenancy/webhooks/deliveries.js';
import { type RateLimiter, refuseExcess } from '../guards/rate-limiter.js';
import { type ToolCaller, userOf } from '../server/caller.js';
import { EXAMPLE_VALUES, SHOWN } from '../server/example-values.js';
import { BACKEND } from '../server/operation.js';
import { routesWith } from '../server/route.js';

/** Test messages of one webhook per minute. */
const TESTS_PER_MINUTE = 5;
const DEFAULT_PAGE = 50;

export interface WebhookDeps {
  readonly admission: Pick<Admission, 'useNonce'>;
  /** Connections in the role `consent_ledger_api`. */
  readonly db: Queryable;
  readonly rateLimiter: RateLimiter;
}

/**
 * Counts a test message of a webhook, whichever way it was requested.
 * @throws ApiError RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE
 */
export async function takeTest(rateLimiter: RateLimiter, siteId: string, webhookId: string): Promise<void> {
  refuseExcess(
    await rateLimiter.take('webhook-test', `${siteId} ${webhookId}`, TESTS_PER_MINUTE),
    'RATE_LIMIT_EXCEEDED',
  );
}

const route = routesWith<WebhookDeps>();

const SHOWN_DELIVERY: JsonObject = {
  id: EXAMPLE_VALUES.deliveryId,
  webhook_id: EXAMPLE_VALUES.webhookId,
  message_id: `msg_${SHOWN.consentId}`,
  type: 'consent.recorded',
  event_id: SHOWN.consentId,
  status: 'delivered',
  attempt: 1,
  created_at: SHOWN.createdAt,
  attempted_at: SHOWN.createdAt,
  error: null,
};

const queues = {
  auth: 'signed',
  roles: BACKEND,
  tag: 'Webhooks',
  method: 'post',
  bodyLimit: 4_096,
  status: 202,
  response: DeliveryAnswer,
} as const;

/** Shows backends the messages to the webhooks of the key's site, and sends them again. */
export const WEBHOOK_OPERATIONS = [
  route({
    auth: 'tool',
    id: 'listDeliveriesS2s',
    path: '/tool/v1/s2s/webhook-deliveries',
    tag: 'Webhooks',
    summary: 'List the messages to the webhooks of the site, and what became of each, newest first',
    description:
      'Deliveries are kept for 30 days, the newest 1,000 of each webhook. They have nothing of the body that the receiver answered.',
    roles: BACKEND,
    query: DeliveriesQuery,
    response: DeliveriesAnswer,
    errors: ['RESOURCE_NOT_FOUND'],
    example: { query: { limit: '20' }, response: { data: [SHOWN_DELIVERY], next_cursor: null } },
    handle: async ({ caller, query }, { db }) => {
      const { limit = DEFAULT_PAGE, cursor = null, webhook_id: webhookId = null } = query;
      const { siteId } = caller.site;
      const found = await listDeliveries(db, siteId, { webhookId, after: cursor, limit: limit + 1 });
      const data = found.slice(0, limit);
      return { data, next_cursor: found.length > limit ? (data.at(-1)?.id ?? null) : null };
    },
  }),
  route({
    ...queues,
    id: 'testWebhookS2s',
    path: '/tool/v1/s2s/webhook-tests',
    summary: 'Send a test message to a webhook',
    description:
      'A message of type `webhook.test`, signed and sent as the messages of events are. At most 5 a minute for each webhook.',
    body: TestWebhookRequest,
    errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE', 'ADMISSION_UNAVAILABLE'],
    example: {
      body: { webhook_id: EXAMPLE_VALUES.webhookId },
      response: {
        data: {
          ...SHOWN_DELIVERY,
          message_id: `msg_${EXAMPLE_VALUES.deliveryId}`,
          type: 'webhook.test',
          event_id: null,
          status: 'waiting',
          attempt: 0,
          attempted_at: null,
        },
      },
    },
    action: 'webhook.test',
    handle: async ({ caller, signed, body }, { admission, db, rateLimiter }) => {
      await admission.useNonce(signed);
      const { webhook_id: webhookId } = body();
      const { siteId } = caller.site;
      await takeTest(rateLimiter, siteId, webhookId);
      return queue(db, caller, 'webhook.test', async (db) => ({
        delivery: await queueTest(db, siteId, webhookId),
        details: {},
      }));
    },
  }),
  route({
    ...queues,
    id: 'sendAgainS2s',
    path: '/tool/v1/s2s/webhook-deliveries/send-again',
    summary: 'Send a message to a webhook again, with the same id',
    description:
      'The delivery must have ended: `delivered` or `given_up`. The request names the `attempt` that the caller knows of, so that a repeated request sends nothing more.',
    body: SendDeliveryAgainRequest,
    errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE', 'EVENT_GONE', 'ADMISSION_UNAVAILABLE'],
    example: {
      body: { delivery_id: EXAMPLE_VALUES.deliveryId, after_attempt: 1 },
      response: { data: { ...SHOWN_DELIVERY, status: 'waiting' } },
    },
    action: 'webhook.send_again',
    handle: async ({ caller, signed, body }, { admission, db }) => {
      await admission.useNonce(signed);
      const { delivery_id: deliveryId, after_attempt: afterAttempt } = body();
      const wanted = { siteId: caller.site.siteId, webhookId: null, deliveryId, afterAttempt };
      return queue(db, caller, 'webhook.send_again', async (db) => {
        const { delivery, isQueued } = await sendAgain(db, wanted);
        return { delivery, details: { queued: isQueued } };
      });
    },
  }),
];

/** Queues a message, with its entry in the audit log. */
function queue(
  db: Queryable,
  caller: ToolCaller,
  action: 'webhook.test' | 'webhook.send_again',
  work: (db: Queryable) => Promise<{ readonly delivery: WebhookDelivery; readonly details: JsonObject }>,
): Promise<{ data: WebhookDelivery }> {
  return withTransaction(db, async (db) => {
    const { delivery, details } = await work(db);
    await appendAuditEntry(db, {
      tenantId: caller.site.tenantId,
      actor: { kind: 'user', userId: userOf(caller).id },
      action,
      subject: { kind: 'webhook', id: delivery.webhook_id },
      details: {
        site_id: caller.site.siteId,
        delivery_id: delivery.id,
        channel: 's2s',
        api_key_id: caller.apiKey.id,
        ...details,
      },
    });
    return { data: delivery };
  });
}
