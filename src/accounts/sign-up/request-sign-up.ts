import { randomBytes, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { TenantName } from '../../../schemas/api/panel/tenants.js';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { bitsOfChallenge, leadingZeroBits, PROOF } from '../../../schemas/crypto/proof-of-work.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors.js';
import { decrypt, encrypt, NONCE_BYTES } from '../../platform/keys/aes-gcm.js';
import { hmacSha256, type Keyring } from '../../platform/keys/index.js';
import { SIGN_UP_SECONDS } from '../credentials/credentials.js';
import { type QueueMail, tooManyMails } from '../mail/mail-queue.js';

/** Seconds that must pass before an address gets a second mail. */
const PAUSE_SECONDS = 15 * 60;

export interface RequestedSignUp {
  readonly organisation: string;
  /** The address in lower case. */
  readonly email: string;
  /** The network of the client (`countedNetwork`). */
  readonly network: string;
  /** The proof of work of the client, if it has one. */
  readonly proof: string | undefined;
}

/**
 * Returns the mailbox of an address: without its subaddress (RFC 5233), for limits alone. Many servers deliver `a+b@x`
 * to `a@x`, so one person can use any number of such addresses.
 */
export function mailboxOf(email: string): string {
  return email.replace(/^([^+@]+)\+[^@]*@/, '$1@');
}

/**
 * Creates the token of a sign-up and mails it to the address. It does not look up whether the address has a user, so
 * neither the response nor its timing reveals that. Each address raises the proof of work for later ones, both overall
 * and in its own network. If the service sends mail, all subaddresses count as one address, here and for the pause. If
 * it does not, no mailbox is needed to create an organisation, so each subaddress counts.
 * @param db a handle in the role `consent_ledger_api`
 * @param queueMail queues a mail; null if the service sends no mail
 * @returns the token for the response, or null if it is mailed
 * @throws RequestRefused PROOF_OF_WORK_REQUIRED, or SERVICE_UNAVAILABLE if too many mails are queued. Nothing is
 *   changed then
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
    // The rollback also undoes the pause, so that another request can succeed.
    if (!isQueued) throw tooManyMails();
  });
  return queueMail === null ? token : null;
}

/** Sign-ups per 24 hours, in the whole installation, that need no proof of work. */
const FREE_A_DAY = 50;
/** Each further 50 addresses double the work. */
const DOUBLES_AFTER = 50;
/** About 16 ms in a browser, which computes about a million hashes a second. */
const FIRST_BITS = 14;
/**
 * About a second in a browser. Without this limit, programs that hash ten times as fast, on many machines, could raise
 * the work until real customers give up.
 */
const MOST_BITS = 20;
const MOST_COUNTED = FREE_A_DAY + (MOST_BITS - FIRST_BITS) * DOUBLES_AFTER;
/**
 * Sign-ups per 24 hours of one network that need no extra work. Beyond it the work doubles, and again each time their
 * number doubles. An office does not notice this, and a flood from one network slows itself down.
 */
const NETWORK_FREE_A_DAY = 10;
/** About a minute in a browser, for a network with hundreds of sign-ups. */
const MOST_NETWORK_BITS = 6;
const MOST_COUNTED_OF_NETWORK = NETWORK_FREE_A_DAY * 2 ** (MOST_NETWORK_BITS - 1);
/** A proof of half the work is accepted, because others may sign up while the page computes. */
const TOLERATED_BITS = 1;
const VALID_SECONDS = 600;
const AUTHENTICATOR_BYTES = 16;

const CountRows = z.tuple([z.object({ of_all: z.int(), of_network: z.int() })]);

/** A sign-up, with the proof of work if there is one. */
export interface ProvingSignUp {
  /** The address in lower case. */
  readonly email: string;
  /** Keyed digest of the network. */
  readonly networkDigest: Uint8Array;
  readonly proof: string | undefined;
}

/**
 * Requires a proof of work from a sign-up while many addresses sign up, and more work while many of its own network do.
 * The challenge states the work and its expiry and is authenticated together with the address, so that the service need
 * not store it. A proof can be used again, but only for the same address.
 * @param db a handle in the role `consent_ledger_api`
 * @throws RequestRefused PROOF_OF_WORK_REQUIRED with a challenge
 */
export async function requireWork(
  db: Queryable,
  keys: SignUpKeys,
  { email, networkDigest, proof }: ProvingSignUp,
  now: Date,
): Promise<void> {
  const needed = await bitsNeeded(db, networkDigest);
  if (needed === 0) return;
  const key = hmacSha256(await keys.accountKey(), 'sign-up work');
  if (proof !== undefined && isProof(key, email, proof, needed - TOLERATED_BITS, now)) return;
  throw new RequestRefused('PROOF_OF_WORK_REQUIRED', undefined, { challenge: newChallenge(key, email, needed, now) });
}

async function bitsNeeded(db: Queryable, networkDigest: Uint8Array): Promise<number> {
  const { of_all, of_network } = await addressesOfDay(db, networkDigest);
  const bits =
    of_all < FREE_A_DAY ? 0 : Math.min(MOST_BITS, FIRST_BITS + Math.floor((of_all - FREE_A_DAY) / DOUBLES_AFTER));
  if (of_network < NETWORK_FREE_A_DAY) return bits;
  return Math.max(bits, FIRST_BITS) + 1 + Math.floor(Math.log2(of_network / NETWORK_FREE_A_DAY));
}

/** Counts today's sign-ups, but stops at the number that already requires the most work. */
async function addressesOfDay(db: Queryable, networkDigest: Uint8Array) {
  const recent = `from sign_up_requests where requested_at > now() - interval '24 hours'`;
  const { rows } = await db.query(
    `select (select count(*) from (select ${recent} limit $1) a)::int as of_all,
            (select count(*) from (select ${recent} and network_digest = $2 limit $3) n)::int as of_network`,
    [MOST_COUNTED, networkDigest, MOST_COUNTED_OF_NETWORK],
  );
  return CountRows.parse(rows)[0];
}

function newChallenge(key: Uint8Array, email: string, bits: number, now: Date): string {
  const stated = `${bits}.${(Math.floor(now.getTime() / 1000) + VALID_SECONDS).toString(36)}`;
  return `${stated}.${authenticator(key, email, stated).toString('base64url')}`;
}

function isProof(key: Uint8Array, email: string, proof: string, leastBits: number, now: Date): boolean {
  const challenge = PROOF.exec(proof)?.[1] ?? '';
  const bits = bitsOfChallenge(challenge);
  if (bits === null || bits < leastBits) return false;
  const [stated, expiry = '', given = ''] = [
    challenge.slice(0, challenge.lastIndexOf('.')),
    ...challenge.split('.').slice(1),
  ];
  if (Number.parseInt(expiry, 36) * 1000 <= now.getTime()) return false;
  const right = authenticator(key, email, stated);
  const stating = Buffer.from(given, 'base64url');
  if (stating.length !== right.length || !timingSafeEqual(stating, right)) return false;
  return leadingZeroBits(sha256(Buffer.from(proof, 'ascii'))) >= bits;
}

function authenticator(key: Uint8Array, email: string, stated: string): Buffer {
  return hmacSha256(key, `${stated}\0${email}`).subarray(0, AUTHENTICATOR_BYTES);
}

type SignUpKeys = Pick<Keyring, 'accountKey'>;

/** Content of a sign-up token. The service stores nothing of it before the token is used. */
export const WantedAccount = z.strictObject({
  organisation: TenantName,
  email: z.email().max(320),
  expires_at: z.iso.datetime(),
});
export type WantedAccount = z.infer<typeof WantedAccount>;

const PREFIX = 'cls_';
const AAD = Buffer.from('sign-up token', 'utf8');

/** Creates the token of a sign-up: its content, encrypted with a key of the keyring. */
export async function newSignUpToken(keys: SignUpKeys, wanted: WantedAccount): Promise<string> {
  const content = Buffer.from(JSON.stringify(wanted), 'utf8');
  return PREFIX + encrypt(await signUpKey(keys), content, AAD, randomBytes(NONCE_BYTES)).toString('base64url');
}

/**
 * Reads a token of `newSignUpToken`.
 * @returns null for any other text, and for an expired token
 */
export async function readSignUpToken(keys: SignUpKeys, token: string, now: Date): Promise<WantedAccount | null> {
  if (!token.startsWith(PREFIX)) return null;
  const content = decrypt(await signUpKey(keys), Buffer.from(token.slice(PREFIX.length), 'base64url'), AAD);
  if (content === undefined) return null;
  const wanted = WantedAccount.parse(JSON.parse(content.toString('utf8')));
  return Date.parse(wanted.expires_at) > now.getTime() ? wanted : null;
}

async function signUpKey(keys: SignUpKeys): Promise<Buffer> {
  return hmacSha256(await keys.accountKey(), 'sign-up');
}
