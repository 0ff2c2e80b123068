import { v7 as uuidV7 } from 'uuid';
import * as z from 'zod';
import { WebhookDelivery } from '../../../schemas/api/panel/webhook-deliveries.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { ChangeRefused, RequestRefused } from '../../platform/errors.js';
import { noSuchWebhook } from './webhooks.js';

/** How many days deliveries are kept, and how many are kept for each webhook. */
const KEPT_DAYS = 30;
const KEPT_OF_WEBHOOK = 1_000;
const DAY_MS = 86_400_000;
const NO_RANDOM = new Uint8Array(16);

const { shape } = WebhookDelivery;
const Rows = z.array(
  z.object({
    id: z.string(),
    webhook_id: z.string(),
    message_id: z.string(),
    type: shape.type,
    event_id: z.string().nullable(),
    status: shape.status,
    attempt: z.int(),
    created_at: z.date(),
    attempted_at: z.date().nullable(),
    error: z.string().nullable(),
  }),
);
const COLUMNS =
  'd.id, d.webhook_id, d.message_id, d.type, d.event_id, d.status, d.attempts as attempt, d.created_at, d.attempted_at, d.error';

export interface DeliveriesQuery {
  /** Null selects every webhook of the site. */
  readonly webhookId: string | null;
  /** The last delivery of the previous page, or null for the first page. */
  readonly after: string | null;
  readonly limit: number;
}

/**
 * Reads deliveries of a site, newest first.
 * @throws ChangeRefused `not_found` if the site has no such webhook
 */
export async function listDeliveries(
  db: Queryable,
  siteId: string,
  { webhookId, after, limit }: DeliveriesQuery,
): Promise<WebhookDelivery[]> {
  if (webhookId !== null) {
    const { rowCount } = await db.query('select from webhooks where site_id = $1 and id = $2', [siteId, webhookId]);
    if (rowCount === 0) throw noSuchWebhook(webhookId);
  }
  const { rows } = await db.query(
    `select ${COLUMNS} from webhook_deliveries d
      where d.webhook_id in (select id from webhooks where site_id = $1) and ($2::uuid is null or d.webhook_id = $2)
        and ($3::uuid is null or d.id < $3) order by d.id desc limit $4`,
    [siteId, webhookId, after, limit],
  );
  return shown(rows);
}

/**
 * Queues a test message to a webhook.
 * @param db a handle in the role `consent_ledger_admin` or `consent_ledger_api`
 * @throws ChangeRefused `not_found`, `wrong_state` (the webhook is disabled)
 */
export function queueTest(db: Queryable, siteId: string, webhookId: string): Promise<WebhookDelivery> {
  return withTransaction(db, async (db) => {
    const webhook = await db.query(
      'select disabled_at is not null as is_disabled from webhooks where id = $1 and site_id = $2',
      [webhookId, siteId],
    );
    const [found] = Disabled.parse(webhook.rows);
    if (found === undefined) throw noSuchWebhook(webhookId);
    if (found.is_disabled) throw disabled();
    const id = uuidV7();
    await attemptNow(db, webhookId);
    const { rows } = await db.query(
      `insert into webhook_deliveries as d (id, webhook_id, message_id, type, place, status, queued_at)
       values ($1, $2, $3, 'webhook.test', 0, 'waiting', now()) returning ${COLUMNS}`,
      [id, webhookId, `msg_${id}`],
    );
    return one(rows);
  });
}

export interface SendAgainOptions {
  readonly siteId: string;
  /** Null if any webhook of the site may have the delivery. */
  readonly webhookId: string | null;
  readonly deliveryId: string;
  /** Number of attempts that the caller knows of. If there are more, the request was already carried out. */
  readonly afterAttempt: number;
}

export interface SentAgain {
  readonly delivery: WebhookDelivery;
  /** False if the delivery is already queued, or was attempted since. */
  readonly isQueued: boolean;
}

/**
 * Queues a finished delivery once more. A repeated request changes nothing.
 * @param db a handle in the role `consent_ledger_admin` or `consent_ledger_api`
 * @throws ChangeRefused `not_found`, `wrong_state` (it has not ended, or the webhook is disabled);
 *   RequestRefused EVENT_GONE
 */
export function sendAgain(
  db: Queryable,
  { siteId, webhookId, deliveryId, afterAttempt }: SendAgainOptions,
): Promise<SentAgain> {
  return withTransaction(db, async (db) => {
    // Locks rows in the same order as the worker; another order could deadlock.
    const locked = await db.query(
      `select d.webhook_id, d.queued_at is not null as is_queued, w.disabled_at is not null as is_disabled,
              exists (select from erased_records e where e.event_id = d.event_id)
                or (d.type = 'idempotency.conflict'
                    and not exists (select from idempotency_conflicts i where i.number = d.place)) as is_gone, ${COLUMNS}
         from webhook_progress p join webhook_deliveries d on d.webhook_id = p.webhook_id
         join webhooks w on w.id = p.webhook_id
        where d.id = $1 and w.site_id = $2 and ($3::uuid is null or w.id = $3) for no key update of p, d`,
      [deliveryId, siteId, webhookId],
    );
    const [state] = States.parse(locked.rows);
    if (state === undefined) throw new ChangeRefused('not_found', `The site has no delivery ${deliveryId}.`);
    if (state.is_queued || state.attempt !== afterAttempt) return { delivery: one(locked.rows), isQueued: false };
    if (state.is_gone) throw new RequestRefused('EVENT_GONE');
    if (state.status === 'retrying')
      throw new ChangeRefused('wrong_state', 'The delivery has not ended: the service will attempt it again.');
    if (state.is_disabled) throw disabled();
    await attemptNow(db, state.webhook_id);
    const { rows } = await db.query(
      `update webhook_deliveries d set status = 'waiting', queued_at = now(), error = null where d.id = $1 returning ${COLUMNS}`,
      [deliveryId],
    );
    return { delivery: one(rows), isQueued: true };
  });
}

/** Deletes all but the newest deliveries of a webhook. @param db a handle in the role `consent_ledger_worker` */
export async function pruneWebhook(db: Queryable, webhookId: string): Promise<void> {
  await db.query(
    `delete from webhook_deliveries where webhook_id = $1 and queued_at is null
        and id <= (select id from webhook_deliveries where webhook_id = $1 order by id desc offset ${KEPT_OF_WEBHOOK} limit 1)`,
    [webhookId],
  );
}

/** Deletes the deliveries that are older than 30 days. @param db a handle in the role `consent_ledger_worker` */
export async function pruneDeliveries(db: Queryable, now: number = Date.now()): Promise<void> {
  const first = uuidV7({ msecs: now - KEPT_DAYS * DAY_MS, seq: 0, random: NO_RANDOM });
  await db.query('delete from webhook_deliveries where id < $1', [first]);
}

const Disabled = z.array(z.object({ is_disabled: z.boolean() }));
const States = z.array(
  z.object({
    webhook_id: z.string(),
    is_queued: z.boolean(),
    is_disabled: z.boolean(),
    is_gone: z.boolean(),
    attempt: z.int(),
    status: shape.status,
  }),
);

/**
 * Makes the next attempt due now, so that the person who asked need not wait. The pauses after further failures are
 * unaffected.
 */
async function attemptNow(db: Queryable, webhookId: string): Promise<void> {
  await db.query('update webhook_progress set next_attempt_at = now() where webhook_id = $1', [webhookId]);
}

function disabled(): ChangeRefused {
  return new ChangeRefused(
    'wrong_state',
    'The webhook is disabled. Enable it first: it then continues with the event that was not delivered.',
  );
}

function shown(rows: readonly unknown[]): WebhookDelivery[] {
  return Rows.parse(rows).map((row) => ({
    ...row,
    created_at: row.created_at.toISOString(),
    attempted_at: row.attempted_at?.toISOString() ?? null,
  }));
}

function one(rows: readonly unknown[]): WebhookDelivery {
  const [delivery] = shown(rows);
  if (delivery === undefined) throw new Error('the delivery was not returned');
  return delivery;
}
