import { errors, jwtVerify, SignJWT } from 'jose';
import * as z from 'zod';
import { createFreshCache } from '../../platform/caches.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { JwtKeys, Keyring } from '../../platform/keys/index.js';
import {
  ACCESS_TOKEN_SECONDS,
  KEY_AT_ONCE_SECONDS,
  KEY_PUBLISHED_AHEAD_SECONDS,
  KEY_SLACK_SECONDS,
} from '../credentials/credentials.js';

/** The user and the sign-in of an access token. */
export interface AccessTokenClaims {
  readonly userId: string;
  readonly signInId: string;
}

/**
 * JSON Web Tokens (RFC 7519) for signed-in users, signed with Ed25519 (RFC 8037). They contain neither personal data
 * nor a role: both are read from the database at each use.
 */
export interface AccessTokens {
  /** Signs a token. @param nowSeconds Unix time in seconds */
  issue(claims: AccessTokenClaims, nowSeconds: number): Promise<string>;
  /** Verifies a token. @returns null if it is malformed, expired, or from another issuer */
  verify(token: string): Promise<AccessTokenClaims | null>;
}

const ISSUER = 'consent-ledger';
const MAX_TOKEN_LENGTH = 2048;
/** Distinguishes access tokens from other tokens signed with the same keys (RFC 8725 §3.11). */
const TYPE = 'at+jwt';
const KEYS_MAX_AGE_MS = 1000;

const Claims = z
  .object({ sub: z.uuid(), sid: z.uuid() })
  .transform(({ sub, sid }): AccessTokenClaims => ({ userId: sub, signInId: sid }));

/**
 * Returns a function that reads the keys of access tokens from the database at most once a second, however often it is
 * called. Every process therefore uses a rotated key within a second.
 */
export function freshJwtKeys(keyring: Pick<Keyring, 'jwtKeys'>): () => Promise<JwtKeys> {
  const keys = createFreshCache<'all', JwtKeys>({
    load: () => keyring.jwtKeys(),
    maxAgeMs: KEYS_MAX_AGE_MS,
    maxEntries: 1,
    now: () => performance.now(),
  });
  return () => keys.get('all');
}

/** Creates the issuer and verifier of this installation. */
export function createAccessTokens(keys: () => Promise<JwtKeys>): AccessTokens {
  return {
    issue: async ({ userId, signInId }, nowSeconds) => {
      const { current } = await keys();
      return new SignJWT({ sid: signInId })
        .setProtectedHeader({ alg: 'EdDSA', kid: current.keyId, typ: TYPE })
        .setIssuer(ISSUER)
        .setAudience(ISSUER)
        .setSubject(userId)
        .setIssuedAt(nowSeconds)
        .setExpirationTime(nowSeconds + ACCESS_TOKEN_SECONDS)
        .sign(current.privateKey);
    },
    verify: async (token) => {
      if (token.length > MAX_TOKEN_LENGTH) return null;
      const { all } = await keys();
      try {
        const { payload } = await jwtVerify(
          token,
          ({ kid }) => {
            const key = all.find(({ keyId }) => keyId === kid);
            if (key === undefined) throw new errors.JWKSNoMatchingKey();
            return key.publicKey;
          },
          {
            algorithms: ['EdDSA'],
            issuer: ISSUER,
            audience: ISSUER,
            typ: TYPE,
            requiredClaims: ['exp', 'sub', 'sid'],
          },
        );
        return Claims.safeParse(payload).data ?? null;
      } catch (error) {
        if (error instanceof errors.JOSEError) return null;
        throw error;
      }
    },
  };
}

/** The new access-token key and the times of the replacement. */
export interface ReplacedSigningKey {
  readonly keyId: string;
  /** Seconds until the new key signs; 0 for the first key of the installation. */
  readonly signsIn: number;
  /** Seconds until the former key no longer verifies. */
  readonly formerVerifiesFor: number;
}

/**
 * Replaces the key of access tokens. The new key is published immediately, and signs once caches of
 * the published keys have expired. The former key verifies until its last token has expired. No
 * restart is needed, and users remain signed in.
 * @param db a handle in the role `consent_ledger_worker`
 * @param atOnce true if the former key is compromised: it stops verifying within seconds, and
 *   clients renew their access tokens
 */
export async function replaceSigningKey(
  db: Queryable,
  keyring: Pick<Keyring, 'replaceJwtKey'>,
  atOnce: boolean,
): Promise<ReplacedSigningKey> {
  const signsIn = atOnce ? KEY_AT_ONCE_SECONDS : KEY_PUBLISHED_AHEAD_SECONDS;
  const formerVerifiesFor = atOnce ? signsIn : signsIn + ACCESS_TOKEN_SECONDS + KEY_SLACK_SECONDS;
  const { keyId, isFirst } = await keyring.replaceJwtKey(db, { signsIn, formerVerifiesFor });
  if (isFirst) return { keyId, signsIn: 0, formerVerifiesFor: 0 };
  return { keyId, signsIn, formerVerifiesFor };
}
