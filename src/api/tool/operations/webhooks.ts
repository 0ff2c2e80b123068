import { NoBody, None } from '../../../../schemas/api/panel/common.js';
import {
  DeliveriesAnswer,
  DeliveriesQuery,
  DeliveryAnswer,
  SendDeliveryAgainRequest,
  TestWebhookRequest,
} from '../../../../schemas/api/panel/webhook-deliveries.js';
import type { JsonObject } from '../../../../schemas/json/json-value.js';
import { EXAMPLE_VALUES, SHOWN } from '../../server/example-values.js';
import { AnyQuery, defineOperation } from '../../server/operation.js';
import { BACKEND, SIGNED_BACKEND } from '../access.js';

const tag = 'Webhooks';

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

export const listDeliveriesS2s = defineOperation({
  id: 'listDeliveriesS2s',
  method: 'get',
  path: '/tool/v1/s2s/webhook-deliveries',
  tag,
  summary: 'List the messages to the webhooks of the site, and what became of each, newest first',
  description:
    'Deliveries are kept for 30 days, the newest 1,000 of each webhook. They have nothing of the body that the receiver answered.',
  access: BACKEND,
  params: None,
  query: DeliveriesQuery,
  body: NoBody,
  status: 200,
  response: DeliveriesAnswer,
  errors: ['RESOURCE_NOT_FOUND'],
  example: { query: { limit: '20' }, response: { data: [SHOWN_DELIVERY], next_cursor: null } },
  action: null,
});

const queues = {
  method: 'post',
  tag,
  access: SIGNED_BACKEND,
  params: None,
  query: AnyQuery,
  bodyLimit: 4_096,
  status: 202,
  response: DeliveryAnswer,
} as const;

export const testWebhookS2s = defineOperation({
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
});

export const sendAgainS2s = defineOperation({
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
});

/** Operations by which a backend sees and repeats the messages to its webhooks. */
export const WEBHOOK_OPERATIONS = [listDeliveriesS2s, testWebhookS2s, sendAgainS2s];
