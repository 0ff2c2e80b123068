import { randomBytes, randomUUID } from 'node:crypto';
import * as z from 'zod';
import { chooseLanguage } from '../../../schemas/language/choose-language.js';
import { acceptedLanguages } from '../../platform/accepted-languages.js';
import type { Queryable } from '../../platform/database/pool.js';
import { type RequestRefused, serviceUnavailable } from '../../platform/errors.js';
import { decrypt, encrypt, NONCE_BYTES } from '../../platform/keys/aes-gcm.js';
import { hmacSha256, type Keyring } from '../../platform/keys/index.js';
import { MAIL_LANGUAGES, MailJob, MailLanguage, type NewMailJob } from './mail-job.js';

/** Language and network of the request that caused a mail. */
export interface MailCause {
  readonly language: MailLanguage;
  readonly network: MailNetwork;
}

/** The cause of mails that no request causes. */
export const BY_OPERATOR: MailCause = { language: 'en', network: null };

/** The members of a request that mails depend on. */
export interface CausingRequest {
  readonly headers: { readonly 'accept-language'?: string | undefined };
  readonly countedNetwork: string;
}

/** The cause of the mails that a request causes. */
export function mailCauseOf({ headers, countedNetwork }: CausingRequest): MailCause {
  return { language: mailLanguageOf(headers['accept-language']), network: countedNetwork };
}

/**
 * Returns the language of the mails that a request causes: English, unless the client prefers Turkish.
 * @param header Accept-Language (RFC 9110 §12.5.4)
 */
export function mailLanguageOf(header: string | undefined): MailLanguage {
  return MailLanguage.parse(chooseLanguage(MAIL_LANGUAGES, acceptedLanguages(header), 'en'));
}

/**
 * Returns a queue that records this cause with every mail.
 * @param queueMail queues a mail; null if the service sends no mail
 */
export function causedBy(queueMail: QueueMail | null, { language, network }: MailCause): QueueMail | null {
  return queueMail === null ? null : (db, job) => queueMail(db, { ...job, language }, network);
}

const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3_600;
/** Time after which the worker gives up on a mail, in seconds. */
const KEPT_SECONDS: Readonly<Record<MailJob['kind'], number>> = {
  invitation: DAY_SECONDS,
  password_reset: DAY_SECONDS,
  notice: DAY_SECONDS,
  reset_request: HOUR_SECONDS,
  sign_up: DAY_SECONDS,
  domain_proof: 3 * DAY_SECONDS,
};
/** Maximum number of queued mails of one kind. There is a limit because requests without a sign-in can add rows. */
const MAX_WAITING = 10_000;
/**
 * One network may hold one tenth as many mails as there are free places. Some places therefore stay free for others,
 * regardless of how many networks fill theirs: a single network gets 909 places, and each of 100 networks gets 90.
 */
const NETWORK_SHARE = 10;
/** Pause after the first failure, and the longest pause. Even the first pause is longer than an attempt can take. */
const FIRST_RETRY_SECONDS = 60;
const LONGEST_RETRY_SECONDS = HOUR_SECONDS;

/**
 * The network of the request that caused a mail (`countedNetwork`), or its digest when one mail causes another, or null
 * if no request caused it.
 */
export type MailNetwork = string | Uint8Array | null;

/**
 * Adds a mail to the queue, in the transaction of the change that it reports: both happen or neither. The worker sends
 * it. Networks take turns within each kind: a new mail comes after those of its own network, and in the same round as
 * the first ones of others. Simultaneous mails of one network may share a round. Per address, at most one request for a
 * new password is queued, and only the latest mail with a new token.
 * @param db a handle in the role `consent_ledger_api`; mails with a password-reset token need `consent_ledger_admin`
 * @returns false if too many mails of this kind or of this network are queued
 */
export type QueueMail = (db: Queryable, job: NewMailJob, network?: MailNetwork) => Promise<boolean>;

/** Returns the refusal of a request whose mail the queue did not take. */
export function tooManyMails(): RequestRefused {
  return serviceUnavailable({ retryAfterSeconds: FIRST_RETRY_SECONDS });
}

export type MailKeys = Pick<Keyring, 'accountKey'>;

/** Creates the function that queues mails. The database holds mails encrypted because they contain tokens. */
export function createMailQueue(keys: MailKeys): QueueMail {
  return async (db, job, network = null) => {
    const digestKey = hmacSha256(await keys.accountKey(), 'mail digests');
    const id = randomUUID();
    const content = encrypt(await mailKey(keys), Buffer.from(JSON.stringify(job)), aad(id), randomBytes(NONCE_BYTES));
    const recipient = onlyRecipientOf(job);
    const recipientDigest = recipient === null ? null : hmacSha256(digestKey, `recipient\0${recipient.toLowerCase()}`);
    // The mail's token is no longer valid.
    if (job.kind === 'password_reset')
      await db.query('delete from mails where kind = $1 and recipient_digest = $2', [job.kind, recipientDigest]);
    const { rowCount } = await db.query(
      `insert into mails (id, kind, content, expires_at, network_digest, recipient_digest, turn)
         select $1, $2, $3, now() + make_interval(secs => $4), $5, $6, greatest(
                  (select max(turn) + 1 from mails where kind = $2 and network_digest = $5),
                  (select min(turn) from mails where kind = $2 and next_attempt_at <= now()), 0)
           from (select (select count(*) from (select from mails where kind = $2 limit ${MAX_WAITING}) a) as of_all,
                        (select count(*) from (select from mails where kind = $2 and network_digest = $5 limit ${MAX_WAITING}) n) as of_network) waiting
          where of_all < ${MAX_WAITING} and of_network < greatest(1, (${MAX_WAITING} - of_all) / ${NETWORK_SHARE})
       on conflict (recipient_digest) where kind = 'reset_request' do nothing`,
      [id, job.kind, content, KEPT_SECONDS[job.kind], networkDigest(digestKey, network), recipientDigest],
    );
    return rowCount === 1 || (job.kind === 'reset_request' && (await isWaiting(db, job.kind, recipientDigest)));
  };
}

/** Returns the address for which at most one mail of this kind may be queued, or null if there is no such limit. */
function onlyRecipientOf(job: NewMailJob): string | null {
  if (job.kind === 'reset_request') return job.email;
  return job.kind === 'password_reset' ? job.to : null;
}

async function isWaiting(db: Queryable, kind: string, recipientDigest: Buffer | null): Promise<boolean> {
  const { rowCount } = await db.query('select from mails where kind = $1 and recipient_digest = $2', [
    kind,
    recipientDigest,
  ]);
  return rowCount !== 0;
}

/** A mail that an attempt has claimed. */
export interface ClaimedMail {
  readonly id: string;
  /** Null if the row was altered, or encrypted with the key of another installation. */
  readonly job: MailJob | null;
  /** Digest of the network that caused the mail. */
  readonly network: Uint8Array;
  readonly isExpired: boolean;
}

const ClaimedRows = z
  .array(
    z.object({
      id: z.string(),
      content: z.instanceof(Uint8Array),
      network: z.instanceof(Uint8Array),
      is_expired: z.boolean(),
    }),
  )
  .max(1);

/** SQL condition for `Looks`: true if a mail is due. */
export const MAIL_WAITS = 'exists (select from mails where next_attempt_at <= now())';

/**
 * Claims the next mail. Earlier kinds come first, and within a kind the network whose turn it is. The next attempt is
 * due after a pause that doubles with each attempt, and after the other mails of the same network. No other worker
 * sends the mail meanwhile; a worker that dies only delays it.
 * @param db a handle in the role `consent_ledger_admin`
 * @param kinds the kinds of mail in order of priority
 * @returns null if none is due
 */
export async function claimMail(
  db: Queryable,
  keys: MailKeys,
  kinds: readonly MailJob['kind'][],
): Promise<ClaimedMail | null> {
  const { rows } = await db.query(
    `update mails set attempts = attempts + 1,
            next_attempt_at = now() + make_interval(secs => least(${LONGEST_RETRY_SECONDS}, ${FIRST_RETRY_SECONDS} * 2 ^ least(attempts, 10))),
            turn = (select max(turn) + 1 from mails o where o.kind = mails.kind and o.network_digest = mails.network_digest)
      where id = (select next.id
                    from unnest($1::text[]) with ordinality as lane (kind, place)
                   cross join lateral (select id from mails where kind = lane.kind and next_attempt_at <= now()
                                        order by turn, next_attempt_at, id limit 1 for update skip locked) next
                   order by lane.place limit 1)
     returning id, content, network_digest as network, expires_at <= now() as is_expired`,
    [kinds],
  );
  const [row] = ClaimedRows.parse(rows);
  if (row === undefined) return null;
  const { id, content, network, is_expired: isExpired } = row;
  const text = decrypt(await mailKey(keys), content, aad(id))?.toString('utf8');
  return { id, job: text === undefined ? null : MailJob.parse(JSON.parse(text)), network, isExpired };
}

/** Removes a mail that was sent or can never be sent. @param db a handle in the role `consent_ledger_admin` */
export async function removeMail(db: Queryable, id: string): Promise<void> {
  await db.query('delete from mails where id = $1', [id]);
}

async function mailKey(keys: MailKeys): Promise<Buffer> {
  return hmacSha256(await keys.accountKey(), 'mail');
}

function networkDigest(key: Uint8Array, network: MailNetwork): Uint8Array {
  if (typeof network === 'string') return hmacSha256(key, `network\0${network}`);
  return network ?? Buffer.alloc(0);
}

function aad(id: string): Uint8Array {
  return Buffer.from(`mail\0${id}`, 'utf8');
}
