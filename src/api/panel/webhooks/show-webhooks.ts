import * as z from 'zod';
import { Webhook } from '../../../../schemas/api/panel/webhooks.js';
import type { Queryable } from '../../../platform/database/pool.js';
import { noSuchWebhook } from '../../../tenancy/webhooks/webhooks.js';
import { keyOfCursor, type Page, type PageRequest, pageOfRows, TimeAndId } from '../page.js';

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
export async function webhookList(db: Queryable, siteId: string, page: PageRequest): Promise<Page<Webhook>> {
  const [createdAt, id] = keyOfCursor(TimeAndId, page) ?? [null, null];
  // To the millisecond, like the cursor.
  const at = "date_trunc('milliseconds', w.created_at)";
  const { rows } = await db.query(
    `${SELECT} and ($2::timestamptz is null or (${at}, w.id) > ($2, $3::uuid)) order by ${at}, w.id limit $4`,
    [siteId, createdAt, id, page.limit + 1],
  );
  return pageOfRows(page, z.array(WebhookRow).parse(rows), (row) => [row.created_at.toISOString(), row.id], shown);
}

/** One webhook of a site. @throws ChangeRefused `not_found` */
export async function webhookOf(db: Queryable, siteId: string, webhookId: string): Promise<Webhook> {
  const { rows } = await db.query(`${SELECT} and w.id = $2`, [siteId, webhookId]);
  const [row] = z.array(WebhookRow).parse(rows);
  if (row === undefined) throw noSuchWebhook(webhookId);
  return shown(row);
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
