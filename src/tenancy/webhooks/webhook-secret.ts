import { randomBytes } from 'node:crypto';
import { hmacSha256, type Keyring } from '../../platform/keys/index.js';
import { NONCE_BYTES, open, seal } from '../../platform/keys/sealed-box.js';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export type WebhookKeys = Pick<Keyring, 'siteKey'>;

/** Creates the secret of a webhook, as Standard Webhooks writes it: `whsec_` and base64. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** Encrypts a secret under a key of the site. */
export async function sealWebhookSecret(
  keys: WebhookKeys,
  siteId: string,
  webhookId: string,
  secret: string,
): Promise<Buffer> {
  const key = await webhookKey(keys, siteId);
  return seal(key, Buffer.from(secret, 'utf8'), aad(webhookId), randomBytes(NONCE_BYTES));
}

/** Returns the key of the signatures; null: the row was altered. @throws KeyError */
export async function openWebhookSecret(
  keys: WebhookKeys,
  siteId: string,
  webhookId: string,
  sealed: Uint8Array,
): Promise<Buffer | null> {
  const secret = open(await webhookKey(keys, siteId), sealed, aad(webhookId))?.toString('utf8');
  return secret === undefined ? null : keyOfSecret(secret);
}

/** The key of the signatures. @param secret from `newWebhookSecret` */
export function keyOfSecret(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64');
}

async function webhookKey(keys: WebhookKeys, siteId: string): Promise<Buffer> {
  return hmacSha256(await keys.siteKey(siteId), 'webhook');
}

function aad(webhookId: string): Uint8Array {
  return Buffer.from(`webhook\0${webhookId}`, 'utf8');
}
