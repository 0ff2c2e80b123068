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

/** Addresses of the whole installation that sign up in 24 hours without a proof. */
const FREE_A_DAY = 50;
/** Each further number of addresses doubles the work. */
const DOUBLES_AFTER = 50;
/** A page hashes about a million times a second: 16 ms. */
const FIRST_BITS = 14;
/**
 * About a second of a page. A limit without which a program that hashes ten times as fast as a
 * page, on many machines, would keep customers out.
 */
const MOST_BITS = 20;
const MOST_COUNTED = FREE_A_DAY + (MOST_BITS - FIRST_BITS) * DOUBLES_AFTER;
/**
 * Addresses of one network that sign up in 24 hours without more work than those of others. It doubles here, and
 * each time their number doubles: an office does not notice, and a flood from one network slows itself down.
 */
const NETWORK_FREE_A_DAY = 10;
/** About a minute of a page, in a network from which hundreds signed up. */
const MOST_NETWORK_BITS = 6;
const MOST_COUNTED_OF_NETWORK = NETWORK_FREE_A_DAY * 2 ** (MOST_NETWORK_BITS - 1);
/** A proof of half the work still counts, because others sign up while a page works. */
const TOLERATED_BITS = 1;
const VALID_SECONDS = 600;
const AUTHENTICATOR_BYTES = 16;

const CountRows = z.tuple([z.object({ of_all: z.int(), of_network: z.int() })]);

/** A sign-up, with the proof of work if there is one. */
export interface ProvingSignUp {
  /** In lower case. */
  readonly email: string;
  /** Keyed digest of the network. */
  readonly networkDigest: Uint8Array;
  readonly proof: string | undefined;
}

/**
 * Requires a proof of work from a sign-up while many addresses sign up, and more while many of its network do. The challenge states the work
 * and its expiry, authenticated with the address, so that the service stores nothing of it. A proof
 * can be used again, for the same address only.
 * @param db in the role `consent_ledger_api`
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

/** More than the numbers that require the most work are not counted. */
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

/** Makes the token of a sign-up: its content, encrypted under a key of the keyring. */
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
