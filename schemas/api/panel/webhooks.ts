import * as z from 'zod';
import { Uuid } from '../../evidence/primitives.js';
import { InputUuid } from '../common.js';
import { displayName, SiteParams, Timestamp } from './common.js';
import { WEBHOOK_EVENTS } from './webhook-events.js';

export const WebhookEvent = z.enum(WEBHOOK_EVENTS).meta({
  id: 'WebhookEvent',
  description:
    '`consent.recorded`: a decision other than a withdrawal; `consent.withdrawn`: a withdrawal; `objection.recorded`, `objection.ended`: an objection, and its end; `consent.erased`: the personal values of a record were erased; `evidence.stamped`: a time stamp covers further records; `idempotency.conflict`: an idempotency key was used again with another body, which was not recorded.',
});

const WebhookUrl = z
  .url({ protocol: /^https?$/ })
  .max(2000)
  .refine((text) => {
    if (!URL.canParse(text)) return false;
    const { username, password, hash } = new URL(text);
    return username === '' && password === '' && hash === '';
  }, 'must have neither a user name nor a fragment.')
  .describe('`https` URL whose host has a public address.');

const Events = z
  .array(WebhookEvent)
  .min(1)
  .max(WEBHOOK_EVENTS.length)
  .refine((events) => new Set(events).size === events.length, 'must name each event once.')
  .describe('Events that are sent.');

export const Webhook = z
  .object({
    id: Uuid.describe('UUID of the object.'),
    url: z.string().describe('Where deliveries are sent.'),
    description: z.string().describe('A note for the team.'),
    events: z.array(WebhookEvent).describe('Events that are delivered.'),
    created_at: Timestamp.describe('When it was created.'),
    disabled_at: Timestamp.nullable().describe('When the webhook was disabled, or null if it is enabled.'),
    disabled_reason: z
      .enum(['requested', 'failing', 'gone'])
      .nullable()
      .describe('`failing`: no delivery succeeded for 3 days; `gone`: the receiver answered 410.'),
    delivered_revision: z
      .int()
      .describe('Revision of the last event of the site’s consents that was delivered, or passed over; −1: none.'),
    last_success_at: Timestamp.nullable().describe('When a delivery last succeeded, or null for never.'),
    last_error: z.string().nullable().describe('Why the last delivery failed, or null if it did not.'),
    next_attempt_at: Timestamp.nullable().describe('Time of the next attempt after a failure, or null if none is due.'),
  })
  .meta({ id: 'Webhook' });
export type Webhook = z.infer<typeof Webhook>;

/** A webhook that was just created or got a new secret. */
export const NewWebhook = Webhook.extend({
  secret: z.string().describe('`whsec_` and the signing key in base64, only in this response.'),
}).meta({ id: 'NewWebhook' });

export const WebhookParams = SiteParams.extend({ webhook_id: InputUuid.describe('The webhook.') });

export const CreateWebhookRequest = z.strictObject({
  url: WebhookUrl,
  description: displayName(200).default('').describe('A note for the team.'),
  events: Events,
});

export const ChangeWebhookRequest = z.strictObject({
  url: WebhookUrl.exactOptional(),
  description: displayName(200).exactOptional().describe('A note for the team.'),
  events: Events.exactOptional(),
  enabled: z.boolean().exactOptional().describe('False pauses the webhook; true continues where it stopped.'),
});
export type ChangeWebhookRequest = z.infer<typeof ChangeWebhookRequest>;

export const ReplayWebhookRequest = z.strictObject({
  from_revision: z
    .int()
    .min(0)
    .describe('Revision of the site’s consents from which the events are sent again, in order.'),
});

export const RotateWebhookSecretRequest = z
  .strictObject({
    grace_seconds: z
      .int()
      .min(0)
      .max(2_592_000)
      .default(86_400)
      .describe('Seconds for which messages have a second signature, by the old secret.'),
  })
  .prefault({});
