import * as z from 'zod';
import { Uuid } from '../../evidence/primitives.js';
import { InputUuid, numberInUrl } from '../common.js';
import { dataOf, pageOf, Timestamp } from './common.js';
import { WEBHOOK_MESSAGES } from './webhook-events.js';
import { WebhookParams } from './webhooks.js';

/** One message to one webhook, and its outcome. Of the receiver's response, only the status is stored. */
export const WebhookDelivery = z
  .object({
    id: Uuid.describe('UUID of the object.'),
    webhook_id: Uuid.describe('The webhook.'),
    message_id: z.string().describe('`webhook-id` of its requests.'),
    type: z.enum(WEBHOOK_MESSAGES).describe('Type of the message.'),
    event_id: Uuid.nullable().describe('The record that it is about, or null if there is none.'),
    status: z
      .enum(['waiting', 'retrying', 'delivered', 'given_up'])
      .describe('`waiting`: somebody asked for it; `retrying`: the last attempt failed, another follows.'),
    attempt: z.int().describe('Attempts so far.'),
    created_at: Timestamp.describe('When it was created.'),
    attempted_at: Timestamp.nullable().describe('When it was last attempted, or null if it was not yet.'),
    error: z.string().nullable().describe('Why the last attempt failed, or null if it did not.'),
  })
  .meta({ id: 'WebhookDelivery' });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const DeliveryParams = WebhookParams.extend({ delivery_id: InputUuid.describe('The delivery.') });

const AfterAttempt = z
  .int()
  .min(0)
  .describe('`attempt` of the delivery as you read it: once there were more, nothing is sent.');

export const SendAgainRequest = z.strictObject({ after_attempt: AfterAttempt });

/** Requests and responses of backends. */
export const DeliveriesQuery = z.object({
  limit: numberInUrl(1, 100, 'must be a whole number from 1 to 100')
    .optional()
    .describe('Most deliveries of the page; 50 if absent.'),
  cursor: InputUuid.optional().describe('`next_cursor` of the page before.'),
  webhook_id: InputUuid.optional().describe('Only those of this webhook.'),
});
export const TestWebhookRequest = z.strictObject({ webhook_id: InputUuid.describe('The webhook.') });
export const SendDeliveryAgainRequest = z.strictObject({
  delivery_id: InputUuid.describe('The delivery.'),
  after_attempt: AfterAttempt,
});
export const DeliveryAnswer = dataOf(WebhookDelivery);
export const DeliveriesAnswer = pageOf(WebhookDelivery);
