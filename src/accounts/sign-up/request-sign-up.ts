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
  /** The proof of work of the client, if it has one. */
  readonly proof: string | undefined;
}

/**
 * Makes the token of a sign-up, and mails it to the address. Whether the address has a user is not
 * looked at here, so that neither response nor time show it. Each address counts for the work that
 * the next ones have to prove.
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
  { organisation, email, proof }: RequestedSignUp,
): Promise<string | null> {
  const now = new Date();
  await requireWork(db, keys, email, proof, now);
  const expires_at = new Date(now.getTime() + SIGN_UP_SECONDS * 1000).toISOString();
  const token = await newSignUpToken(keys, { organisation, email, expires_at });
  const digest = hmacSha256(await keys.accountKey(), `sign-up address\0${email}`);
  await withTransaction(db, async (db) => {
    const { rowCount } = await db.query(
      `insert into sign_up_requests (address_digest) values ($1)
         on conflict (address_digest) do update set requested_at = now()
          where sign_up_requests.requested_at < now() - make_interval(secs => $2)`,
      [digest, PAUSE_SECONDS],
    );
    if (queueMail === null || rowCount !== 1) return;
    const isQueued = await queueMail(db, { kind: 'sign_up', to: email, token, expires_at });
    // The pause is rolled back as well, so that another request can succeed.
    if (!isQueued) throw tooManyMails();
  });
  return queueMail === null ? token : null;
}
