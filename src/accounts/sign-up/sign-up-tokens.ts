import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { TenantName } from '../../../schemas/api/panel/tenants.js';
import { hmacSha256, type Keyring } from '../../platform/keys/index.js';
import { NONCE_BYTES, open, seal } from '../../platform/keys/sealed-box.js';

export type SignUpKeys = Pick<Keyring, 'accountKey'>;

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
  return PREFIX + seal(await signUpKey(keys), content, AAD, randomBytes(NONCE_BYTES)).toString('base64url');
}

/**
 * Reads a token of `newSignUpToken`.
 * @returns null for any other text, and for an expired token
 */
export async function readSignUpToken(keys: SignUpKeys, token: string, now: Date): Promise<WantedAccount | null> {
  if (!token.startsWith(PREFIX)) return null;
  const content = open(await signUpKey(keys), Buffer.from(token.slice(PREFIX.length), 'base64url'), AAD);
  if (content === undefined) return null;
  const wanted = WantedAccount.parse(JSON.parse(content.toString('utf8')));
  return Date.parse(wanted.expires_at) > now.getTime() ? wanted : null;
}

async function signUpKey(keys: SignUpKeys): Promise<Buffer> {
  return hmacSha256(await keys.accountKey(), 'sign-up');
}
