import { z } from 'zod';
import { WebhookEvent } from '../../../schemas/api/panel/webhooks.js';
import { consentsStreamSql } from '../../platform/database/consents-stream.js';
import type { Queryable } from '../../platform/database/pool.js';
import { withTransaction } from '../../platform/database/pool.js';
import { SealedBytes, type SealedRow, SealedTime, sealed, sealedRow } from '../../platform/keys/index.js';

/** Another worker may deliver after this time: longer than one delivery can take. */
const CLAIM = "interval '60 seconds'";
/** Webhooks of one tenant that are delivered at a time: the receivers of one tenant must not take every lane. */
const CLAIMS_OF_TENANT = 8;
/** Pause after the first failure, and the longest one, in seconds. */
const FIRST_RETRY_SECONDS = 5;
const LONGEST_RETRY_SECONDS = 3_600;
/** A webhook that fails for so long is disabled. */
const PATIENCE = "interval '3 days'";

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
 * Claims a webhook that has something to deliver: events of its site that the relay appended, a new
 * time stamp, or a conflict of an idempotency key. The one whose attempt is due longest is first.
 * @param db in the role `consent_ledger_worker`
 * @param without ids of webhooks that may not be claimed now
 * @returns null if there is none
 */
export async function claimWebhook(db: Queryable, without: readonly string[]): Promise<ClaimedWebhook | null> {
  const { rows } = await db.query(
    `with next as (
       select w.id from webhooks w join webhook_progress p on p.webhook_id = w.id join sites s on s.id = w.site_id
        where w.disabled_at is null and w.id <> all ($1::uuid[])
          and (select count(*) from webhook_progress busy join webhooks v on v.id = busy.webhook_id
                 join sites t on t.id = v.site_id
                where t.tenant_id = s.tenant_id and busy.claimed_until > now()) < ${CLAIMS_OF_TENANT}
          and p.next_attempt_at <= now() and (p.claimed_until is null or p.claimed_until < now())
          and (p.revision < (select r.revision from event_log.logged_streams r where r.stream = ${consentsStreamSql('w.site_id')})
               or p.checkpoint_size < (select max(c.size) from checkpoints c)
               or exists (select from idempotency_conflicts i where i.site_id = w.site_id and i.number > p.conflict))
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
 * Stores how far a webhook was delivered, and keeps the claim. A replay that was requested meanwhile
 * stays: the position is moved only from where this delivery began.
 * @returns false if this run must stop: another process has moved it, or the webhook was changed
 */
export async function noteDelivered(
  db: Queryable,
  { id, row }: Pick<ClaimedWebhook, 'id' | 'row'>,
  from: Reached,
  to: Reached,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update webhook_progress set ${REACHED}, attempts = 0, failing_since = null, last_error = null,
            last_success_at = now(), claimed_until = now() + ${CLAIM}
      where ${IS_AT}`,
    [id, ...placesOf(from), ...placesOf(to)],
  );
  return rowCount === 1 && (await isUnchanged(db, id, row));
}

/** Whether a webhook is as it was claimed: paused, sent elsewhere or with a new secret, it has another seal. */
async function isUnchanged(db: Queryable, id: string, { seal }: SealedRow): Promise<boolean> {
  const { rowCount } = await db.query('select from webhooks where id = $1 and disabled_at is null and seal = $2', [
    id,
    seal,
  ]);
  return rowCount === 1;
}

/** Stores how far events were passed over to which the webhook has not subscribed. */
export async function notePassed(db: Queryable, id: string, from: Reached, to: Reached): Promise<boolean> {
  const { rowCount } = await db.query(`update webhook_progress set ${REACHED} where ${IS_AT}`, [
    id,
    ...placesOf(from),
    ...placesOf(to),
  ]);
  return rowCount === 1;
}

/** Releases the claim: the next one may deliver at once. */
export async function releaseWebhook(db: Queryable, id: string): Promise<void> {
  await db.query('update webhook_progress set claimed_until = null, next_attempt_at = now() where webhook_id = $1', [
    id,
  ]);
}

/**
 * Stores a failure. The pause doubles with each one; a receiver that is gone, or that fails for three
 * days, is not asked any more.
 * @param reason contains nothing that the receiver chose
 * @returns whether the webhook was disabled
 */
export function noteFailure(db: Queryable, id: string, reason: string, isGone: boolean): Promise<boolean> {
  return withTransaction(db, async (db) => {
    // In the order of changes by users: another one could deadlock.
    await db.query('select from webhooks where id = $1 for no key update', [id]);
    await db.query(
      `update webhook_progress set attempts = attempts + 1, failing_since = coalesce(failing_since, now()), last_error = $2,
              claimed_until = null,
              next_attempt_at = now() + make_interval(secs => least(${LONGEST_RETRY_SECONDS}, ${FIRST_RETRY_SECONDS} * 2 ^ least(attempts, 20)))
        where webhook_id = $1`,
      [id, reason],
    );
    const { rowCount } = await db.query(
      `update webhooks w set disabled_at = now(), disabled_reason = case when $2 then 'gone' else 'failing' end
         from webhook_progress p
        where w.id = $1 and p.webhook_id = w.id and w.disabled_at is null
          and ($2 or p.failing_since < now() - ${PATIENCE})`,
      [id, isGone],
    );
    return rowCount === 1;
  });
}
