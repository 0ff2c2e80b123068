import { randomBytes, randomUUID } from 'node:crypto';
import type { ChangeWebhookRequest, Webhook } from '../../../schemas/api/panel/webhooks.js';
import { consentsStream } from '../../../schemas/events/streams.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import { decrypt, encrypt, NONCE_BYTES } from '../../platform/keys/aes-gcm.js';
import { hmacSha256, type Keyring } from '../../platform/keys/index.js';
import { changeSite } from '../sites/change-site.js';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

type WebhookKeys = Pick<Keyring, 'siteKey'>;

/** Creates the secret of a webhook, as Standard Webhooks writes it: `whsec_` and base64. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** Encrypts a secret under a key of the site. */
async function sealWebhookSecret(
  keys: WebhookKeys,
  siteId: string,
  webhookId: string,
  secret: string,
): Promise<Buffer> {
  const key = await webhookKey(keys, siteId);
  return encrypt(key, Buffer.from(secret, 'utf8'), aad(webhookId), randomBytes(NONCE_BYTES));
}

/** Returns the key of the signatures, or null if the row was altered. @throws KeyError */
export async function openWebhookSecret(
  keys: WebhookKeys,
  siteId: string,
  webhookId: string,
  sealed: Uint8Array,
): Promise<Buffer | null> {
  const secret = decrypt(await webhookKey(keys, siteId), sealed, aad(webhookId))?.toString('utf8');
  return secret === undefined ? null : keyOfSecret(secret);
}

/** The key of the signatures. @param secret a secret from `newWebhookSecret` */
export function keyOfSecret(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64');
}

async function webhookKey(keys: WebhookKeys, siteId: string): Promise<Buffer> {
  return hmacSha256(await keys.siteKey(siteId), 'webhook');
}

function aad(webhookId: string): Uint8Array {
  return Buffer.from(`webhook\0${webhookId}`, 'utf8');
}

/** Maximum number of webhooks of one site. Each costs a request for every event. */
export const MAX_WEBHOOKS = 10;

export interface NewWebhookOptions {
  readonly url: string;
  readonly description: string;
  readonly events: Webhook['events'];
}

/** A webhook with its secret, which is returned only here. */
export interface CreatedWebhook {
  readonly id: string;
  readonly secret: string;
}

/**
 * Creates a webhook of a site, which gets events from now on.
 * @param db a handle in the role `consent_ledger_admin`
 * @throws ChangeRefused `not_found`, `wrong_state` (too many); KeyError
 */
export function createWebhook(
  db: Queryable,
  keys: WebhookKeys,
  siteId: string,
  { url, description, events }: NewWebhookOptions,
): Promise<CreatedWebhook> {
  return changeSite(db, siteId, async ({ db }) => {
    const { rowCount } = await db.query('select from webhooks where site_id = $1 limit $2', [siteId, MAX_WEBHOOKS]);
    if (rowCount === MAX_WEBHOOKS)
      throw new ChangeRefused('wrong_state', `A site has at most ${MAX_WEBHOOKS} webhooks. Delete one.`);
    const id = randomUUID();
    const secret = newWebhookSecret();
    await db.query(
      'insert into webhooks (id, site_id, url, description, events, secret) values ($1, $2, $3, $4, $5, $6)',
      [id, siteId, url, description, events, await sealWebhookSecret(keys, siteId, id, secret)],
    );
    await db.query(
      `insert into webhook_progress (webhook_id, revision, checkpoint_size, conflict)
       select $1, coalesce((select revision from event_log.logged_streams where stream = $2), -1),
              coalesce((select max(size) from checkpoints), 0),
              coalesce((select max(number) from idempotency_conflicts), 0)`,
      [id, consentsStream(siteId)],
    );
    return { id, secret };
  });
}

/**
 * Changes a webhook. If it is enabled again, it continues where it stopped.
 * @throws ChangeRefused `not_found`
 */
export function changeWebhook(
  db: Queryable,
  siteId: string,
  webhookId: string,
  { url, description, events, enabled }: ChangeWebhookRequest,
): Promise<void> {
  return changeSite(db, siteId, async ({ db }) => {
    const { rowCount } = await db.query(
      `update webhooks set url = coalesce($3, url), description = coalesce($4, description), events = coalesce($5, events),
              disabled_at = case when $6 then null when not $6 then coalesce(disabled_at, now()) else disabled_at end,
              disabled_reason = case when $6 then null when not $6 then coalesce(disabled_reason, 'requested') else disabled_reason end
        where id = $1 and site_id = $2`,
      [webhookId, siteId, url ?? null, description ?? null, events ?? null, enabled ?? null],
    );
    if (rowCount === 0) throw noSuchWebhook(webhookId);
    // Events that the webhook no longer gets are not retried.
    if (events !== undefined)
      await db.query(
        `update webhook_deliveries set status = 'given_up'
          where webhook_id = $1 and status = 'retrying' and queued_at is null and type <> all ($2)`,
        [webhookId, events],
      );
    // After a corrected address or a repaired receiver, the next attempt is due immediately.
    await db.query(
      'update webhook_progress set attempts = 0, failing_since = null, next_attempt_at = now() where webhook_id = $1',
      [webhookId],
    );
  });
}

/**
 * Replaces the secret of a webhook. For a grace period, messages are also signed with the old one, so that a receiver
 * can switch without refusing any.
 * @param graceSeconds grace period in seconds; 0 if the old secret must sign nothing more
 * @throws ChangeRefused `not_found`; KeyError
 */
export function rotateWebhookSecret(
  db: Queryable,
  keys: WebhookKeys,
  siteId: string,
  webhookId: string,
  graceSeconds: number,
): Promise<CreatedWebhook> {
  return changeSite(db, siteId, async ({ db }) => {
    const secret = newWebhookSecret();
    const { rowCount } = await db.query(
      `update webhooks set secret = $3, previous_secret = case when $4 > 0 then secret end,
              previous_secret_until = case when $4 > 0 then now() + make_interval(secs => $4) end
        where id = $1 and site_id = $2`,
      [webhookId, siteId, await sealWebhookSecret(keys, siteId, webhookId, secret), graceSeconds],
    );
    if (rowCount === 0) throw noSuchWebhook(webhookId);
    return { id: webhookId, secret };
  });
}

/** Sends the events of a site again from a revision on. @throws ChangeRefused `not_found` */
export function replayWebhook(db: Queryable, siteId: string, webhookId: string, fromRevision: number): Promise<void> {
  return changeSite(db, siteId, async ({ db }) => {
    const { rowCount } = await db.query(
      `update webhook_progress p set revision = least(p.revision, $3::bigint - 1), attempts = 0, failing_since = null,
              next_attempt_at = now()
         from webhooks w where w.id = p.webhook_id and w.id = $1 and w.site_id = $2`,
      [webhookId, siteId, fromRevision],
    );
    if (rowCount === 0) throw noSuchWebhook(webhookId);
  });
}

/** Deletes a webhook, with its deliveries. @throws ChangeRefused `not_found` */
export function deleteWebhook(db: Queryable, siteId: string, webhookId: string): Promise<void> {
  return changeSite(db, siteId, async ({ db }) => {
    await db.query(
      'delete from webhook_progress p using webhooks w where w.id = p.webhook_id and w.id = $1 and w.site_id = $2',
      [webhookId, siteId],
    );
    const { rowCount } = await db.query('delete from webhooks where id = $1 and site_id = $2', [webhookId, siteId]);
    if (rowCount === 0) throw noSuchWebhook(webhookId);
  });
}

export function noSuchWebhook(webhookId: string): ChangeRefused {
  return new ChangeRefused('not_found', `The site has no webhook ${webhookId}.`);
}
