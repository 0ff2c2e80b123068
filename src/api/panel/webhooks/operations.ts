import { dataOf, NoBody, None, PageQuery, pageOf, SiteParams } from '../../../../schemas/api/panel/common.js';
import { DeliveryParams, SendAgainRequest, WebhookDelivery } from '../../../../schemas/api/panel/webhook-deliveries.js';
import {
  ChangeWebhookRequest,
  CreateWebhookRequest,
  NewWebhook,
  ReplayWebhookRequest,
  RotateWebhookSecretRequest,
  Webhook,
  WebhookParams,
} from '../../../../schemas/api/panel/webhooks.js';
import type { Role } from '../../../accounts/users/user-directory.js';
import { EDITORS, operation } from '../operation.js';

const tag = 'Webhooks';
const path = '/sites/{site_id}/webhooks';
/** Not viewers: the path and the query of a URL often contain a token. */
const URL_READERS: readonly Role[] = [...EDITORS, 'dpo'];

export const listWebhooks = operation({
  id: 'listWebhooks',
  method: 'get',
  path,
  tag,
  summary: 'List the webhooks of a site, oldest first',
  roles: URL_READERS,
  params: SiteParams,
  query: PageQuery,
  body: NoBody,
  status: 200,
  response: pageOf(Webhook),
  errors: [],
  action: null,
});

export const createWebhook = operation({
  id: 'createWebhook',
  method: 'post',
  path,
  tag,
  summary: 'Create a webhook',
  description:
    'The service sends the events of the site from now on, signed (docs/webhooks.md). Only this response contains the secret.',
  roles: EDITORS,
  params: SiteParams,
  query: None,
  body: CreateWebhookRequest,
  example: { url: 'https://shop.example/webhooks', events: ['consent.withdrawn', 'consent.erased'] },
  status: 201,
  response: dataOf(NewWebhook),
  errors: ['WRONG_STATE'],
  action: 'webhook.create',
});

export const readWebhook = operation({
  id: 'readWebhook',
  method: 'get',
  path: `${path}/{webhook_id}`,
  tag,
  summary: 'Get a webhook, with the state of its deliveries',
  roles: URL_READERS,
  params: WebhookParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(Webhook),
  errors: ['RESOURCE_NOT_FOUND'],
  action: null,
});

export const changeWebhook = operation({
  id: 'changeWebhook',
  method: 'patch',
  path: `${path}/{webhook_id}`,
  tag,
  summary: 'Change, pause or continue a webhook',
  description: 'The next attempt follows at once. A webhook that is enabled again continues where it stopped.',
  roles: EDITORS,
  params: WebhookParams,
  query: None,
  body: ChangeWebhookRequest,
  example: { enabled: true },
  status: 200,
  response: dataOf(Webhook),
  errors: ['RESOURCE_NOT_FOUND'],
  action: 'webhook.change',
});

export const rotateWebhookSecret = operation({
  id: 'rotateWebhookSecret',
  method: 'post',
  path: `${path}/{webhook_id}/rotate-secret`,
  tag,
  summary: 'Replace the secret of a webhook',
  description:
    'For `grace_seconds`, a day unless given, messages have a second signature, by the old secret. Only this response contains the new one.',
  roles: EDITORS,
  params: WebhookParams,
  query: None,
  body: RotateWebhookSecretRequest,
  example: { grace_seconds: 86_400 },
  status: 200,
  response: dataOf(NewWebhook),
  errors: ['RESOURCE_NOT_FOUND'],
  action: 'webhook.rotate_secret',
});

export const replayWebhook = operation({
  id: 'replayWebhook',
  method: 'post',
  path: `${path}/{webhook_id}/replay`,
  tag,
  summary: 'Send the events of a site again',
  description: 'Sends the events from a revision of the site’s consents on again, in order, with the same ids.',
  roles: EDITORS,
  params: WebhookParams,
  query: None,
  body: ReplayWebhookRequest,
  example: { from_revision: 0 },
  status: 200,
  response: dataOf(Webhook),
  errors: ['RESOURCE_NOT_FOUND'],
  action: 'webhook.replay',
});

export const testWebhook = operation({
  id: 'testWebhook',
  method: 'post',
  path: `${path}/{webhook_id}/test`,
  tag,
  summary: 'Send a test message',
  description: 'A signed message of type `webhook.test`, at most 5 a minute.',
  roles: EDITORS,
  params: WebhookParams,
  query: None,
  body: NoBody,
  status: 202,
  response: dataOf(WebhookDelivery),
  errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
  action: 'webhook.test',
});

export const listWebhookDeliveries = operation({
  id: 'listWebhookDeliveries',
  method: 'get',
  path: `${path}/{webhook_id}/deliveries`,
  tag,
  summary: 'List the deliveries of a webhook, newest first',
  description: 'The newest 1,000 of the last 30 days.',
  roles: URL_READERS,
  params: WebhookParams,
  query: PageQuery,
  body: NoBody,
  status: 200,
  response: pageOf(WebhookDelivery),
  errors: ['RESOURCE_NOT_FOUND'],
  action: null,
});

export const sendWebhookAgain = operation({
  id: 'sendWebhookAgain',
  method: 'post',
  path: `${path}/{webhook_id}/deliveries/{delivery_id}/send-again`,
  tag,
  summary: 'Send a delivery that ended again, with the same id',
  roles: EDITORS,
  params: DeliveryParams,
  query: None,
  body: SendAgainRequest,
  example: { after_attempt: 1 },
  status: 202,
  response: dataOf(WebhookDelivery),
  errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE', 'EVENT_GONE'],
  action: 'webhook.send_again',
});

export const deleteWebhook = operation({
  id: 'deleteWebhook',
  method: 'delete',
  path: `${path}/{webhook_id}`,
  tag,
  summary: 'Delete a webhook',
  description: 'Returns the webhook as it was.',
  roles: EDITORS,
  params: WebhookParams,
  query: None,
  body: NoBody,
  status: 200,
  response: dataOf(Webhook),
  errors: ['RESOURCE_NOT_FOUND'],
  action: 'webhook.delete',
});

export const WEBHOOK_OPERATIONS = [
  listWebhooks,
  createWebhook,
  readWebhook,
  changeWebhook,
  rotateWebhookSecret,
  replayWebhook,
  testWebhook,
  listWebhookDeliveries,
  sendWebhookAgain,
  deleteWebhook,
];
