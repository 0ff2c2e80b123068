import * as z from 'zod';
import { ApiError } from '../../../../schemas/api/error-codes.js';
import { HostRefused } from '../../../platform/net/reach.js';
import { listDeliveries, queueTest, sendAgain } from '../../../tenancy/webhooks/deliveries.js';
import { createWebhookTargets } from '../../../tenancy/webhooks/webhook-targets.js';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  replayWebhook,
  rotateWebhookSecret,
} from '../../../tenancy/webhooks/webhooks.js';
import { takeTest } from '../../tool/s2s-webhooks.js';
import type { PanelRoutesOptions } from '../deps.js';
import { keyOfCursor, pageOfRows } from '../page.js';
import { changes, changesAfter, type PanelRoute, reads } from '../route.js';
import * as operations from './operations.js';
import { webhookList, webhookOf } from './show-webhooks.js';

const DeliveryKey = z.tuple([z.uuid()]);

/** Webhooks of one site. A secret is in the answer that makes it, and never again. */
export function webhookRoutes({ apiPool, keyring, config, rateLimiter }: PanelRoutesOptions): readonly PanelRoute[] {
  const targets = createWebhookTargets(config.webhookNetworks);
  const refuse = async (url: string): Promise<void> => {
    try {
      await targets.refuse(new URL(url));
    } catch (error) {
      if (!(error instanceof HostRefused)) throw error;
      throw new ApiError('VALIDATION_ERROR', undefined, {
        errors: [{ field: 'url', message: `is refused: ${error.message}.` }],
      });
    }
  };
  return [
    reads(operations.listWebhooks, ({ params, query }) => webhookList(apiPool, params.site_id, query)),
    changesAfter(
      operations.createWebhook,
      ({ body }) => refuse(body.url),
      async ({ params, body }, _, db) => {
        const { id, secret } = await createWebhook(db, keyring, params.site_id, body);
        return {
          response: { data: { ...(await webhookOf(db, params.site_id, id)), secret } },
          subject: { kind: 'webhook', id },
          details: { site_id: params.site_id, host: hostOf(body.url), events: body.events },
        };
      },
    ),
    reads(operations.readWebhook, async ({ params }) => ({
      data: await webhookOf(apiPool, params.site_id, params.webhook_id),
    })),
    changesAfter(
      operations.changeWebhook,
      async ({ body }) => {
        if (body.url !== undefined) await refuse(body.url);
      },
      async ({ params, body }, _, db) => {
        const { url, ...rest } = body;
        await changeWebhook(db, params.site_id, params.webhook_id, body);
        return {
          response: { data: await webhookOf(db, params.site_id, params.webhook_id) },
          subject: { kind: 'webhook', id: params.webhook_id },
          details: { site_id: params.site_id, ...rest, ...(url !== undefined && { host: hostOf(url) }) },
        };
      },
    ),
    changes(operations.rotateWebhookSecret, async ({ params, body }, db) => {
      const { grace_seconds } = body;
      const { id, secret } = await rotateWebhookSecret(db, keyring, params.site_id, params.webhook_id, grace_seconds);
      return {
        response: { data: { ...(await webhookOf(db, params.site_id, id)), secret } },
        subject: { kind: 'webhook', id },
        details: { site_id: params.site_id, grace_seconds },
      };
    }),
    changes(operations.replayWebhook, async ({ params, body }, db) => {
      await replayWebhook(db, params.site_id, params.webhook_id, body.from_revision);
      return {
        response: { data: await webhookOf(db, params.site_id, params.webhook_id) },
        subject: { kind: 'webhook', id: params.webhook_id },
        details: { site_id: params.site_id, from_revision: body.from_revision },
      };
    }),
    changesAfter(
      operations.testWebhook,
      ({ params }) => takeTest(rateLimiter, params.site_id, params.webhook_id),
      async ({ params }, _, db) => {
        const data = await queueTest(db, params.site_id, params.webhook_id);
        return {
          response: { data },
          subject: { kind: 'webhook', id: params.webhook_id },
          details: { site_id: params.site_id, delivery_id: data.id },
        };
      },
    ),
    reads(operations.listWebhookDeliveries, async ({ params, query }) => {
      const [after] = keyOfCursor(DeliveryKey, query) ?? [null];
      const wanted = { webhookId: params.webhook_id, after, limit: query.limit + 1 };
      const deliveries = await listDeliveries(apiPool, params.site_id, wanted);
      return pageOfRows(
        query,
        deliveries,
        ({ id }) => [id],
        (delivery) => delivery,
      );
    }),
    changes(operations.sendWebhookAgain, async ({ params, body }, db) => {
      const { site_id, webhook_id: webhookId, delivery_id } = params;
      const wanted = { webhookId, deliveryId: delivery_id, afterAttempt: body.after_attempt };
      const { delivery, isQueued } = await sendAgain(db, { siteId: site_id, ...wanted });
      return {
        response: { data: delivery },
        subject: { kind: 'webhook', id: webhookId },
        details: { site_id, delivery_id, queued: isQueued },
      };
    }),
    changes(operations.deleteWebhook, async ({ params }, db) => {
      const webhook = await webhookOf(db, params.site_id, params.webhook_id);
      await deleteWebhook(db, params.site_id, params.webhook_id);
      return {
        response: { data: webhook },
        subject: { kind: 'webhook', id: params.webhook_id },
        details: { site_id: params.site_id, host: hostOf(webhook.url) },
      };
    }),
  ];
}

/** The path and the query of a webhook's URL often contain a token: the audit log names the host alone. */
function hostOf(url: string): string {
  return new URL(url).host;
}
