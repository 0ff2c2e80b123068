import { v7 as uuidV7 } from 'uuid';
import * as z from 'zod';
import type { WebhookDelivery } from '../../../schemas/api/panel/webhook-deliveries.js';
import { WebhookEvent } from '../../../schemas/api/panel/webhooks.js';
import type { Queryable } from '../../platform/database/pool.js';
import { withTransaction } from '../../platform/database/pool.js';
import { consentsStreamSql } from '../../platform/database/shared-statements.js';
import { SealedBytes, type SealedRow, SealedTime, sealed, sealedRow } from '../../platform/keys/index.js';
import type { WebhookMessage } from './webhook-message.js';

/** How long a claim is valid: longer than one delivery can take. */
const CLAIM = "interval '60 seconds'";
/** Webhooks of one tenant that are delivered at a time, so that the receivers of one tenant cannot take every lane. */
const CLAIMS_OF_TENANT = 8;
/** Pause after the first failure, and the longest pause, in seconds. */
const FIRST_RETRY_SECONDS = 5;
const LONGEST_RETRY_SECONDS = 3_600;
/** A webhook that fails for this long is disabled. */
const PATIENCE = "interval '3 days'";

/** Condition of webhooks `w` with progress `p` and site `s` that may be claimed. */
const MAY_CLAIM = `w.disabled_at is null
          and (select count(*) from webhook_progress busy join webhooks v on v.id = busy.webhook_id
                 join sites t on t.id = v.site_id
                where t.tenant_id = s.tenant_id and busy.claimed_until > now()) < ${CLAIMS_OF_TENANT}
          and p.next_attempt_at <= now() and (p.claimed_until is null or p.claimed_until < now())
          and (p.revision < (select r.revision from event_log.logged_streams r where r.stream = ${consentsStreamSql('w.site_id')})
               or p.checkpoint_size < (select max(c.size) from checkpoints c)
               or exists (select from idempotency_conflicts i where i.site_id = w.site_id and i.number > p.conflict)
               or exists (select from webhook_deliveries q where q.webhook_id = w.id and q.queued_at is not null))`;
const WEBHOOKS = 'webhooks w join webhook_progress p on p.webhook_id = w.id join sites s on s.id = w.site_id';

/** SQL condition for `Looks`: true if `claimWebhook` may find a webhook. */
export const WEBHOOK_WAITS = `exists (select from ${WEBHOOKS} where ${MAY_CLAIM})`;

const ClaimedRow = z
  .object({
    id: z.string(),
    site_id: z.string(),
    row: sealedRow('webhooks'),
    revision: z.int(),
    checkpoint_size: z.int(),
    conflict: z.int(),
  })
  .transform(({ site_id: siteId, checkpoint_size: checkpointSize, ...row }) => ({ ...row, siteId, checkpointSize }));
export type ClaimedWebhook = z.infer<typeof ClaimedRow>;

/** The columns of a claimed webhook that decide what is sent where. */
export const WebhookColumns = z.object({
  site_id: z.string(),
  url: z.string(),
  events: z.array(WebhookEvent),
  secret: SealedBytes,
  previous_secret: SealedBytes.nullable(),
  previous_secret_until: SealedTime.nullable(),
});
export type WebhookColumns = z.infer<typeof WebhookColumns>;

/**
 * Claims a webhook that has something to deliver: events of its site that the relay appended, a new time stamp, a
 * conflict of an idempotency key, or a delivery that somebody requested. The webhook whose attempt has been due longest
 * comes first.
 * @param db a handle in the role `consent_ledger_worker`
 * @param without ids of webhooks that must not be claimed now
 * @returns null if there is none
 */
export async function claimWebhook(db: Queryable, without: readonly string[]): Promise<ClaimedWebhook | null> {
  const { rows } = await db.query(
    `with next as (
       select w.id from ${WEBHOOKS} where w.id <> all ($1::uuid[]) and ${MAY_CLAIM}
        order by p.next_attempt_at, w.id limit 1 for update of p skip locked)
     update webhook_progress p set claimed_until = now() + ${CLAIM}
       from next, webhooks w where p.webhook_id = next.id and w.id = next.id
     returning w.id, w.site_id, ${sealed('webhooks', 'w')} as row, p.revision, p.checkpoint_size, p.conflict`,
    [without],
  );
  return z.array(ClaimedRow).max(1).parse(rows)[0] ?? null;
}

/** How far a webhook has been delivered. */
export interface Reached {
  readonly revision: number;
  readonly checkpointSize: number;
  /** Number of a conflict of an idempotency key. */
  readonly conflict: number;
}

const IS_AT = 'webhook_id = $1 and revision = $2 and checkpoint_size = $3 and conflict = $4';
const REACHED = 'revision = $5, checkpoint_size = $6, conflict = $7';
const placesOf = ({ revision, checkpointSize, conflict }: Reached) => [revision, checkpointSize, conflict];

/**
 * Stores that a message was delivered and how far its webhook has come, and keeps the claim. If a replay was requested
 * meanwhile, it stays: the position only moves from where this delivery began.
 * @returns false if this run must stop: another process has moved it, or the webhook was changed
 */
export async function noteDelivered(
  db: Queryable,
  { id, row }: Pick<ClaimedWebhook, 'id' | 'row'>,
  message: WebhookMessage,
  from: Reached,
  to: Reached,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `with moved as (
       update webhook_progress set ${REACHED}, attempts = 0, failing_since = null, last_error = null,
              last_success_at = now(), claimed_until = now() + ${CLAIM}
        where ${IS_AT} returning webhook_id),
     noted as (${noted(8)} returning 1)
     select from moved`,
    [id, ...placesOf(from), ...placesOf(to), ...attemptOf(message, 'delivered', null)],
  );
  return rowCount === 1 && (await isUnchanged(db, id, row));
}

/**
 * Returns whether a webhook is unchanged since it was claimed. If it was paused, or got another URL or secret, its row
 * seal differs.
 */
async function isUnchanged(db: Queryable, id: string, { seal }: SealedRow): Promise<boolean> {
  const { rowCount } = await db.query('select from webhooks where id = $1 and disabled_at is null and seal = $2', [
    id,
    seal,
  ]);
  return rowCount === 1;
}

/** Stores how far events that the webhook has not subscribed to were skipped. */
export async function notePassed(db: Queryable, id: string, from: Reached, to: Reached): Promise<boolean> {
  const { rowCount } = await db.query(`update webhook_progress set ${REACHED} where ${IS_AT}`, [
    id,
    ...placesOf(from),
    ...placesOf(to),
  ]);
  return rowCount === 1;
}

/** Releases the claim, so that the next one may deliver immediately. */
export async function releaseWebhook(db: Queryable, id: string): Promise<void> {
  await db.query('update webhook_progress set claimed_until = null, next_attempt_at = now() where webhook_id = $1', [
    id,
  ]);
}

/** A failed attempt. */
export interface Failure {
  readonly webhookId: string;
  /** Contains nothing that the receiver chose. */
  readonly reason: string;
  readonly isGone: boolean;
  /** Null if no delivery was attempted. */
  readonly message: WebhookMessage | null;
}

/**
 * Stores a failure. The pause doubles with each failure. If a receiver answers 410 (gone) or fails for three days, its
 * webhook is disabled.
 * @returns whether the webhook was disabled
 */
export function noteFailure(db: Queryable, { webhookId, reason, isGone, message }: Failure): Promise<boolean> {
  return withTransaction(db, async (db) => {
    // Locks rows in the same order as changes by users; another order could deadlock.
    await db.query('select from webhooks where id = $1 for no key update', [webhookId]);
    const { rowCount: count } = await db.query(
      `update webhook_progress set attempts = attempts + 1, last_error = $2, claimed_until = null,
              failing_since = coalesce(failing_since, now()),
              next_attempt_at = now() + make_interval(secs => least(${LONGEST_RETRY_SECONDS}, ${FIRST_RETRY_SECONDS} * 2 ^ least(attempts, 20)))
        where webhook_id = $1`,
      [webhookId, reason],
    );
    // The webhook was deleted meanwhile.
    if (count === 0) return false;
    const { rowCount } = await db.query(
      `update webhooks w set disabled_at = now(), disabled_reason = case when $2 then 'gone' else 'failing' end
         from webhook_progress p
        where w.id = $1 and p.webhook_id = w.id and w.disabled_at is null
          and ($2 or p.failing_since < now() - ${PATIENCE})`,
      [webhookId, isGone],
    );
    const isDisabled = rowCount === 1;
    if (message !== null)
      await db.query(noted(2), [webhookId, ...attemptOf(message, isDisabled ? 'given_up' : 'retrying', reason)]);
    return isDisabled;
  });
}

/**
 * Stores that a requested message did not arrive. It is not retried and causes no pause, because later messages must
 * not wait if the receiver refuses this one. The person who requested it sees why, and can request it again.
 * @returns false if this run must stop: the webhook was changed
 */
export async function noteRefused(
  db: Queryable,
  { id, row }: Pick<ClaimedWebhook, 'id' | 'row'>,
  message: WebhookMessage,
  reason: string,
): Promise<boolean> {
  await db.query(
    `with noted as (${noted(3)} returning 1)
     update webhook_progress set last_error = $2, claimed_until = now() + ${CLAIM} where webhook_id = $1`,
    [id, reason, ...attemptOf(message, 'given_up', reason)],
  );
  return isUnchanged(db, id, row);
}

/** Ends a requested delivery whose message cannot be created. */
export async function giveUp(db: Queryable, deliveryId: string, reason: string): Promise<void> {
  await db.query(`update webhook_deliveries set status = 'given_up', queued_at = null, error = $2 where id = $1`, [
    deliveryId,
    reason,
  ]);
}

/**
 * Returns the statement that stores an attempt of the webhook $1.
 * @param first number of its first parameter, of those that `attemptOf` returns
 */
function noted(first: number): string {
  const [id, messageId, type, place, eventId, status, error] = Array.from({ length: 7 }, (_, i) => `$${first + i}`);
  return `insert into webhook_deliveries as d
            (id, webhook_id, message_id, type, place, event_id, status, attempts, attempted_at, error)
          select ${id}::uuid, webhook_id, ${messageId}, ${type}, ${place}::bigint, ${eventId}::uuid, ${status}, 1, now(), ${error}
            from webhook_progress where webhook_id = $1
          on conflict (webhook_id, message_id) do update
             set status = excluded.status, attempts = d.attempts + 1, attempted_at = now(), error = excluded.error,
                 queued_at = case when excluded.status = 'retrying' then d.queued_at end`;
}

function attemptOf(
  { id, type, place, recordId }: WebhookMessage,
  status: WebhookDelivery['status'],
  error: string | null,
): readonly unknown[] {
  return [uuidV7(), id, type, place, recordId, status, error];
}
