import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { createFreshCache } from '../../platform/cache/fresh-cache.js';
import type { JwtKeys, Keyring } from '../../platform/keys/index.js';
import { ACCESS_TOKEN_SECONDS } from '../credentials/lifetimes.js';

/** Whose an access token is, and by which sign-in. */
export interface AccessTokenClaims {
  readonly userId: string;
  readonly signInId: string;
}

/**
 * JSON Web Tokens (RFC 7519) that say who signed in; signed with Ed25519 (RFC 8037). They carry no personal datum and no role: those are read from the
 * database at each use.
 */
export interface AccessTokens {
  /** @param nowSeconds Unix time */
  issue(claims: AccessTokenClaims, nowSeconds: number): Promise<string>;
  /** @returns null if the token is malformed, expired, or not ours */
  verify(token: string): Promise<AccessTokenClaims | null>;
}

const ISSUER = 'consent-ledger';
const MAX_TOKEN_LENGTH = 2048;
/** Keeps access tokens apart from whatever else may be signed with these keys one day (RFC 8725 §3.11). */
const TYPE = 'at+jwt';
const KEYS_MAX_AGE_MS = 1000;

const Claims = z
  .object({ sub: z.uuid(), sid: z.uuid() })
  .transform(({ sub, sid }): AccessTokenClaims => ({ userId: sub, signInId: sid }));

/** Tokens of this installation, for itself. A key that was rotated is known to every process within a second. */
export function createAccessTokens(keyring: Pick<Keyring, 'jwtKeys'>): AccessTokens {
  const keys = createFreshCache<'all', JwtKeys>({
    load: () => keyring.jwtKeys(),
    maxAgeMs: KEYS_MAX_AGE_MS,
    maxEntries: 1,
    now: () => performance.now(),
  });
  return {
    issue: async ({ userId, signInId }, nowSeconds) => {
      const { current } = await keys.get('all');
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
      const { all } = await keys.get('all');
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
