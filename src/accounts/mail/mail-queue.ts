import { randomBytes, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import type { RequestRefused } from '../../platform/errors/request-refused.js';
import { serviceUnavailable } from '../../platform/errors/service-unavailable.js';
import { hmacSha256, type Keyring } from '../../platform/keys/index.js';
import { NONCE_BYTES, open, seal } from '../../platform/keys/sealed-box.js';
import { MailJob, type NewMailJob } from './mail-job.js';

const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3_600;
/** Seconds after which a mail is not tried any more. */
const KEPT_SECONDS: Readonly<Record<MailJob['kind'], number>> = {
  invitation: DAY_SECONDS,
  password_reset: DAY_SECONDS,
  notice: DAY_SECONDS,
  reset_request: HOUR_SECONDS,
  sign_up: DAY_SECONDS,
};
/** Mails of one kind that may wait. Requests without a sign-in can add rows. */
const MAX_WAITING = 10_000;
/** Pause after the first failure, and the longest one. The first outlasts an attempt. */
const FIRST_RETRY_SECONDS = 60;
const LONGEST_RETRY_SECONDS = HOUR_SECONDS;

/**
 * Adds a mail to the queue, in the transaction of the change that it tells of: both happen or
 * neither. The worker sends it.
 * @param db in the role `consent_ledger_api` or `consent_ledger_admin`
 * @returns false if too many mails of this kind wait
 */
export type QueueMail = (db: Queryable, job: NewMailJob) => Promise<boolean>;

/** Returns the refusal of a request whose mail the queue did not take. */
export function tooManyMails(): RequestRefused {
  return serviceUnavailable({ retryAfterSeconds: FIRST_RETRY_SECONDS });
}

export type MailKeys = Pick<Keyring, 'accountKey'>;

/** Creates the queue's entrance. The database holds mails encrypted, because they contain tokens. */
export function createMailQueue(keys: MailKeys): QueueMail {
  return async (db, job) => {
    const id = randomUUID();
    const content = seal(await mailKey(keys), Buffer.from(JSON.stringify(job)), aad(id), randomBytes(NONCE_BYTES));
    const { rowCount } = await db.query(
      `insert into mails (id, kind, content, expires_at)
         select $1, $2, $3, now() + make_interval(secs => $4)
          where (select count(*) from (select from mails where kind = $2 limit ${MAX_WAITING}) waiting) < ${MAX_WAITING}`,
      [id, job.kind, content, KEPT_SECONDS[job.kind]],
    );
    return rowCount === 1;
  };
}

/** A mail that an attempt has claimed. */
export interface ClaimedMail {
  readonly id: string;
  /** Null if the row was altered, or is of another installation's key. */
  readonly job: MailJob | null;
  readonly isExpired: boolean;
}

const ClaimedRows = z
  .array(z.object({ id: z.string(), content: z.instanceof(Uint8Array), is_expired: z.boolean() }))
  .max(1);

/**
 * Claims the mail that has waited longest. Its next attempt is due after a pause that doubles with
 * each attempt, so that no other worker sends it meanwhile, and a worker that dies delays it only.
 * @param db in the role `consent_ledger_admin`
 * @returns null if none is due
 */
export async function claimMail(db: Queryable, keys: MailKeys): Promise<ClaimedMail | null> {
  const { rows } = await db.query(
    `update mails set attempts = attempts + 1,
            next_attempt_at = now() + make_interval(secs => least(${LONGEST_RETRY_SECONDS}, ${FIRST_RETRY_SECONDS} * 2 ^ least(attempts, 10)))
      where id = (select id from mails where next_attempt_at <= now() order by next_attempt_at, id limit 1 for update skip locked)
     returning id, content, expires_at <= now() as is_expired`,
  );
  const [row] = ClaimedRows.parse(rows);
  if (row === undefined) return null;
  const text = open(await mailKey(keys), row.content, aad(row.id))?.toString('utf8');
  return { id: row.id, job: text === undefined ? null : MailJob.parse(JSON.parse(text)), isExpired: row.is_expired };
}

/** Removes a mail that was sent, or that cannot be. @param db in the role `consent_ledger_admin` */
export async function removeMail(db: Queryable, id: string): Promise<void> {
  await db.query('delete from mails where id = $1', [id]);
}

async function mailKey(keys: MailKeys): Promise<Buffer> {
  return hmacSha256(await keys.accountKey(), 'mail');
}

function aad(id: string): Uint8Array {
  return Buffer.from(`mail\0${id}`, 'utf8');
}
