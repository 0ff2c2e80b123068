import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { hmacSha256 } from '../../platform/keys/index.js';
import { SIGN_UP_SECONDS } from '../credentials/lifetimes.js';
import { type QueueMail, tooManyMails } from '../mail/mail-queue.js';
import { requireWork } from './proof-of-work.js';
import { newSignUpToken, type SignUpKeys } from './sign-up-tokens.js';

/** No second mail to an address within this time. */
const PAUSE_SECONDS = 15 * 60;

export interface RequestedSignUp {
  readonly organisation: string;
  /** In lower case. */
  readonly email: string;
  /** The network of the client (`countedNetwork`). */
  readonly network: string;
  /** The proof of work of the client, if it has one. */
  readonly proof: string | undefined;
}

/**
 * Returns the mailbox of an address: without its subaddress (RFC 5233), for limits alone. Many servers deliver
 * `a+b@x` to `a@x`, so that one person has any number of such addresses.
 */
export function mailboxOf(email: string): string {
  return email.replace(/^([^+@]+)\+[^@]*@/, '$1@');
}

/**
 * Makes the token of a sign-up, and mails it to the address. Whether the address has a user is not
 * looked at here, so that neither response nor time show it. Each address counts for the work that
 * the next ones have to prove, of all networks and of its own. Where the service sends mail, all subaddresses are one
 * address for this and for the pause; where it does not, each creates an organisation without a mailbox, and counts.
 * @param db in the role `consent_ledger_api`
 * @param queueMail null: the service sends no mail
 * @returns the token for the response; null if it is mailed
 * @throws RequestRefused and nothing is changed: PROOF_OF_WORK_REQUIRED; SERVICE_UNAVAILABLE, if too
 *   many mails wait
 */
export async function requestSignUp(
  db: Queryable,
  keys: SignUpKeys,
  queueMail: QueueMail | null,
  { organisation, email, network, proof }: RequestedSignUp,
): Promise<string | null> {
  const now = new Date();
  const key = await keys.accountKey();
  const networkDigest = hmacSha256(key, `sign-up network\0${network}`);
  await requireWork(db, keys, { email, networkDigest, proof }, now);
  const expires_at = new Date(now.getTime() + SIGN_UP_SECONDS * 1000).toISOString();
  const token = await newSignUpToken(keys, { organisation, email, expires_at });
  const digest = hmacSha256(key, `sign-up address\0${queueMail === null ? email : mailboxOf(email)}`);
  await withTransaction(db, async (db) => {
    const { rowCount } = await db.query(
      `insert into sign_up_requests (address_digest, network_digest) values ($1, $3)
         on conflict (address_digest) do update set requested_at = now(), network_digest = excluded.network_digest
          where sign_up_requests.requested_at < now() - make_interval(secs => $2)`,
      [digest, PAUSE_SECONDS, networkDigest],
    );
    if (queueMail === null || rowCount !== 1) return;
    const isQueued = await queueMail(db, { kind: 'sign_up', to: email, token, expires_at });
    // The pause is rolled back as well, so that another request can succeed.
    if (!isQueued) throw tooManyMails();
  });
  return queueMail === null ? token : null;
}
