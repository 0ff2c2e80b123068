import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  replayWebhook,
  rotateWebhookSecret,
} from '../../../tenancy/webhooks/webhooks.js';
import type { PanelRoutesOptions } from '../deps.js';
import { changes, type PanelRoute, reads } from '../route.js';
import * as operations from './operations.js';
import { webhookList, webhookOf } from './show-webhooks.js';

/** Webhooks of one site. A secret is in the answer that makes it, and never again. */
export function webhookRoutes({ apiPool, keyring }: PanelRoutesOptions): readonly PanelRoute[] {
  return [
    reads(operations.listWebhooks, ({ params, query }) => webhookList(apiPool, params.site_id, query)),
    changes(operations.createWebhook, async ({ params, body }, db) => {
      const { id, secret } = await createWebhook(db, keyring, params.site_id, body);
      return {
        response: { data: { ...(await webhookOf(db, params.site_id, id)), secret } },
        subject: { kind: 'webhook', id },
        details: { site_id: params.site_id, host: hostOf(body.url), events: body.events },
      };
    }),
    reads(operations.readWebhook, async ({ params }) => ({
      data: await webhookOf(apiPool, params.site_id, params.webhook_id),
    })),
    changes(operations.changeWebhook, async ({ params, body }, db) => {
      const { url, ...rest } = body;
      await changeWebhook(db, params.site_id, params.webhook_id, body);
      return {
        response: { data: await webhookOf(db, params.site_id, params.webhook_id) },
        subject: { kind: 'webhook', id: params.webhook_id },
        details: { site_id: params.site_id, ...rest, ...(url !== undefined && { host: hostOf(url) }) },
      };
    }),
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
