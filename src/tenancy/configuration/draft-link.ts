import { timingSafeEqual } from 'node:crypto';
import { hmacSha256 } from '../../platform/keys/hmac.js';

/** Seconds for which a link to a draft works. */
export const DRAFT_LINK_SECONDS = 3_600;

/** A token has the end of its time in Unix seconds, in base 36, and the authenticator of it. */
const TOKEN = /^([0-9a-z]{1,9})\.([\w-]{43})$/;

/**
 * Makes a token that shows the draft of a site to whoever has it. The service keeps nothing of it: the site's key
 * authenticates the end of its time, so it is good for this site alone and cannot be prolonged.
 * @param siteKey 32 bytes
 * @param now Unix milliseconds
 */
export function newDraftToken(siteKey: Uint8Array, now: number): { readonly token: string; readonly expiresAt: Date } {
  const end = Math.floor(now / 1000) + DRAFT_LINK_SECONDS;
  const stated = end.toString(36);
  const token = `${stated}.${authenticator(siteKey, stated).toString('base64url')}`;
  return { token, expiresAt: new Date(end * 1000) };
}

/** Checks a token. @param now Unix milliseconds */
export function checkDraftToken(siteKey: Uint8Array, token: string, now: number): 'valid' | 'expired' | 'foreign' {
  const [, stated, stating] = TOKEN.exec(token) ?? [];
  if (stated === undefined || stating === undefined) return 'foreign';
  if (!timingSafeEqual(authenticator(siteKey, stated), Buffer.from(stating, 'base64url'))) return 'foreign';
  return Number.parseInt(stated, 36) * 1000 > now ? 'valid' : 'expired';
}

function authenticator(siteKey: Uint8Array, stated: string): Buffer {
  return hmacSha256(siteKey, `draft link\0${stated}`);
}
