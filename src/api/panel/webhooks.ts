import * as z from 'zod';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { dataOf, PageQuery, pageOf, SiteParams } from '../../../schemas/api/panel/common.js';
import { DeliveryParams, SendAgainRequest, WebhookDelivery } from '../../../schemas/api/panel/webhook-deliveries.js';
import {
  ChangeWebhookRequest,
  CreateWebhookRequest,
  NewWebhook,
  ReplayWebhookRequest,
  RotateWebhookSecretRequest,
  Webhook,
  WebhookParams,
} from '../../../schemas/api/panel/webhooks.js';
import type { Role } from '../../accounts/users/user-directory.js';
import { beforeAndAfter } from '../../platform/audit-log.js';
import type { Queryable } from '../../platform/database/pool.js';
import { HostRefused } from '../../platform/net/reach.js';
import { listDeliveries, queueTest, sendAgain } from '../../tenancy/webhooks/deliveries.js';
import type { WebhookTargets } from '../../tenancy/webhooks/webhook-targets.js';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  noSuchWebhook,
  replayWebhook,
  rotateWebhookSecret,
} from '../../tenancy/webhooks/webhooks.js';
import { takeTest } from '../tool/webhooks.js';
import { EDITORS } from './caller.js';
import { route } from './deps.js';
import { keyOfCursor, type Page, type PageRequest, pageOfRows, TimeAndId } from './page.js';

const shared = { auth: 'panel', tag: 'Webhooks', params: SiteParams } as const;
const one = { ...shared, params: WebhookParams, errors: ['RESOURCE_NOT_FOUND'] } as const;
const path = '/api/v1/sites/{site_id}/webhooks';
/** Viewers are left out because the path and query of a URL often contain a token. */
const URL_READERS: readonly Role[] = [...EDITORS, 'dpo'];

/** Webhooks of one site. A secret is only in the response that creates it. */
export const WEBHOOK_OPERATIONS = [
  route({
    ...shared,
    id: 'listWebhooks',
    path,
    summary: 'List the webhooks of a site, oldest first',
    roles: URL_READERS,
    query: PageQuery,
    response: pageOf(Webhook),
    handle: ({ params, query }, { apiPool }) => webhookList(apiPool, params.site_id, query),
  }),
  route({
    ...shared,
    id: 'createWebhook',
    method: 'post',
    path,
    summary: 'Create a webhook',
    description:
      'The service sends the events of the site from now on, signed (docs/webhooks.md). Only this response contains the secret.',
    roles: EDITORS,
    body: CreateWebhookRequest,
    example: { body: { url: 'https://shop.example/webhooks', events: ['consent.withdrawn', 'consent.erased'] } },
    status: 201,
    response: dataOf(NewWebhook),
    errors: ['WRONG_STATE'],
    action: 'webhook.create',
    prepare: async ({ body: { url } }, { keyring, webhookTargets }) => {
      await refuse(webhookTargets, url);
      return async ({ params, body }, db) => {
        const { id, secret } = await createWebhook(db, keyring, params.site_id, body);
        return {
          response: { data: { ...(await webhookOf(db, params.site_id, id)), secret } },
          subject: { kind: 'webhook', id },
          details: { site_id: params.site_id, host: hostOf(body.url), events: body.events },
        };
      };
    },
  }),
  route({
    ...one,
    id: 'readWebhook',
    path: `${path}/{webhook_id}`,
    summary: 'Get a webhook, with the state of its deliveries',
    roles: URL_READERS,
    response: dataOf(Webhook),
    handle: async ({ params }, { apiPool }) => ({
      data: await webhookOf(apiPool, params.site_id, params.webhook_id),
    }),
  }),
  route({
    ...one,
    id: 'changeWebhook',
    method: 'patch',
    path: `${path}/{webhook_id}`,
    summary: 'Change, pause or continue a webhook',
    description: 'The next attempt follows at once. A webhook that is enabled again continues where it stopped.',
    roles: EDITORS,
    body: ChangeWebhookRequest,
    example: { body: { enabled: true } },
    response: dataOf(Webhook),
    action: 'webhook.change',
    prepare: async ({ body: { url } }, { webhookTargets }) => {
      if (url !== undefined) await refuse(webhookTargets, url);
      return async ({ params, body }, db) => {
        const before = await webhookOf(db, params.site_id, params.webhook_id);
        await changeWebhook(db, params.site_id, params.webhook_id, body);
        const data = await webhookOf(db, params.site_id, params.webhook_id);
        return {
          response: { data },
          subject: { kind: 'webhook', id: params.webhook_id },
          details: {
            site_id: params.site_id,
            ...beforeAndAfter(logged(before), logged(data), ['description', 'events', 'host', 'enabled']),
            // Of a new path, only that there is one.
            ...(before.url !== data.url && { changed: ['url'] }),
          },
        };
      };
    },
  }),
  route({
    ...one,
    id: 'rotateWebhookSecret',
    method: 'post',
    path: `${path}/{webhook_id}/rotate-secret`,
    summary: 'Replace the secret of a webhook',
    description:
      'For `grace_seconds`, by default a day, messages have a second signature, by the old secret. Only this response contains the new one.',
    roles: EDITORS,
    body: RotateWebhookSecretRequest,
    example: { body: { grace_seconds: 86_400 } },
    response: dataOf(NewWebhook),
    action: 'webhook.rotate_secret',
    change: async ({ params, body }, db, { keyring }) => {
      const { grace_seconds } = body;
      const { id, secret } = await rotateWebhookSecret(db, keyring, params.site_id, params.webhook_id, grace_seconds);
      return {
        response: { data: { ...(await webhookOf(db, params.site_id, id)), secret } },
        subject: { kind: 'webhook', id },
        details: { site_id: params.site_id, grace_seconds },
      };
    },
  }),
  route({
    ...one,
    id: 'replayWebhook',
    method: 'post',
    path: `${path}/{webhook_id}/replay`,
    summary: 'Send the events of a site again',
    description: 'Sends the events from a revision of the site’s consents on again, in order, with the same ids.',
    roles: EDITORS,
    body: ReplayWebhookRequest,
    example: { body: { from_revision: 0 } },
    response: dataOf(Webhook),
    action: 'webhook.replay',
    change: async ({ params, body }, db) => {
      await replayWebhook(db, params.site_id, params.webhook_id, body.from_revision);
      return {
        response: { data: await webhookOf(db, params.site_id, params.webhook_id) },
        subject: { kind: 'webhook', id: params.webhook_id },
        details: { site_id: params.site_id, from_revision: body.from_revision },
      };
    },
  }),
  route({
    ...one,
    id: 'testWebhook',
    method: 'post',
    path: `${path}/{webhook_id}/test`,
    summary: 'Send a test message',
    description: 'A signed message of type `webhook.test`, at most 5 a minute.',
    roles: EDITORS,
    status: 202,
    response: dataOf(WebhookDelivery),
    errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE'],
    action: 'webhook.test',
    prepare: async ({ params: { site_id, webhook_id: id } }, { rateLimiter }) => {
      await takeTest(rateLimiter, site_id, id);
      return async (_call, db) => {
        const data = await queueTest(db, site_id, id);
        return { response: { data }, subject: { kind: 'webhook', id }, details: { site_id, delivery_id: data.id } };
      };
    },
  }),
  route({
    ...one,
    id: 'listWebhookDeliveries',
    path: `${path}/{webhook_id}/deliveries`,
    summary: 'List the deliveries of a webhook, newest first',
    description: 'The newest 1,000 of the last 30 days.',
    roles: URL_READERS,
    query: PageQuery,
    response: pageOf(WebhookDelivery),
    handle: async ({ params, query }, { apiPool }) => {
      const [after] = keyOfCursor(DeliveryKey, query) ?? [null];
      const wanted = { webhookId: params.webhook_id, after, limit: query.limit + 1 };
      const deliveries = await listDeliveries(apiPool, params.site_id, wanted);
      return pageOfRows(
        query,
        deliveries,
        ({ id }) => [id],
        (delivery) => delivery,
      );
    },
  }),
  route({
    ...shared,
    id: 'sendWebhookAgain',
    method: 'post',
    path: `${path}/{webhook_id}/deliveries/{delivery_id}/send-again`,
    summary: 'Send a delivery that ended again, with the same id',
    roles: EDITORS,
    params: DeliveryParams,
    body: SendAgainRequest,
    example: { body: { after_attempt: 1 } },
    status: 202,
    response: dataOf(WebhookDelivery),
    errors: ['RESOURCE_NOT_FOUND', 'WRONG_STATE', 'EVENT_GONE'],
    action: 'webhook.send_again',
    change: async ({ params, body }, db) => {
      const { site_id, webhook_id: webhookId, delivery_id } = params;
      const wanted = { webhookId, deliveryId: delivery_id, afterAttempt: body.after_attempt };
      const { delivery, isQueued } = await sendAgain(db, { siteId: site_id, ...wanted });
      return {
        response: { data: delivery },
        subject: { kind: 'webhook', id: webhookId },
        details: { site_id, delivery_id, queued: isQueued },
      };
    },
  }),
  route({
    ...one,
    id: 'deleteWebhook',
    method: 'delete',
    path: `${path}/{webhook_id}`,
    summary: 'Delete a webhook',
    description: 'Returns the webhook as it was.',
    roles: EDITORS,
    response: dataOf(Webhook),
    action: 'webhook.delete',
    change: async ({ params }, db) => {
      const webhook = await webhookOf(db, params.site_id, params.webhook_id);
      await deleteWebhook(db, params.site_id, params.webhook_id);
      return {
        response: { data: webhook },
        subject: { kind: 'webhook', id: params.webhook_id },
        details: { site_id: params.site_id, host: hostOf(webhook.url) },
      };
    },
  }),
];

const DeliveryKey = z.tuple([z.uuid()]);

/** @throws ApiError VALIDATION_ERROR if no delivery could use the URL */
async function refuse(targets: WebhookTargets, url: string): Promise<void> {
  try {
    await targets.refuse(new URL(url));
  } catch (error) {
    if (!(error instanceof HostRefused)) throw error;
    throw new ApiError('VALIDATION_ERROR', undefined, {
      errors: [{ field: 'url', message: `is refused: ${error.message}.` }],
    });
  }
}

/**
 * Returns the host of a webhook's URL. The audit log names nothing else, because path and query often contain a token.
 */
function hostOf(url: string): string {
  return new URL(url).host;
}

const { shape } = Webhook;
const WebhookRow = z.object({
  id: z.string(),
  url: z.string(),
  description: z.string(),
  events: shape.events,
  created_at: z.date(),
  disabled_at: z.date().nullable(),
  disabled_reason: shape.disabled_reason,
  delivered_revision: z.int(),
  last_success_at: z.date().nullable(),
  last_error: z.string().nullable(),
  next_attempt_at: z.date().nullable(),
});

const SELECT = `
  select w.id, w.url, w.description, w.events, w.created_at, w.disabled_at, w.disabled_reason,
         p.revision as delivered_revision, p.last_success_at, p.last_error,
         case when p.attempts > 0 and w.disabled_at is null then p.next_attempt_at end as next_attempt_at
    from webhooks w join webhook_progress p on p.webhook_id = w.id where w.site_id = $1`;

/** A page of a site's webhooks, oldest first. @throws ApiError VALIDATION_ERROR */
async function webhookList(db: Queryable, siteId: string, page: PageRequest): Promise<Page<Webhook>> {
  const [createdAt, id] = keyOfCursor(TimeAndId, page) ?? [null, null];
  // Truncated to milliseconds, the precision of the cursor.
  const at = "date_trunc('milliseconds', w.created_at)";
  const { rows } = await db.query(
    `${SELECT} and ($2::timestamptz is null or (${at}, w.id) > ($2, $3::uuid)) order by ${at}, w.id limit $4`,
    [siteId, createdAt, id, page.limit + 1],
  );
  return pageOfRows(page, z.array(WebhookRow).parse(rows), (row) => [row.created_at.toISOString(), row.id], shown);
}

/** One webhook of a site. @throws ChangeRefused `not_found` */
async function webhookOf(db: Queryable, siteId: string, webhookId: string): Promise<Webhook> {
  const { rows } = await db.query(`${SELECT} and w.id = $2`, [siteId, webhookId]);
  const [row] = z.array(WebhookRow).parse(rows);
  if (row === undefined) throw noSuchWebhook(webhookId);
  return shown(row);
}

/** What the audit log says about a webhook. The path of its URL can be a secret. */
function logged({ description, events, url, disabled_at }: Webhook) {
  return { description, events, host: hostOf(url), enabled: disabled_at === null };
}

function shown(row: z.infer<typeof WebhookRow>): Webhook {
  return {
    ...row,
    created_at: row.created_at.toISOString(),
    disabled_at: row.disabled_at?.toISOString() ?? null,
    last_success_at: row.last_success_at?.toISOString() ?? null,
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
  };
}
