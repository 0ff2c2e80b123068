import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import type { Keyring } from '../keys/index.js';

/** What a token is for: `access` opens routes, `refresh` only gets new tokens. */
export type TokenUse = 'access' | 'refresh';

/** Seconds for which tokens hold. */
export const TOKEN_LIFETIMES: Readonly<Record<TokenUse, number>> = { access: 3600, refresh: 30 * 86_400 };

/** JSON Web Tokens (RFC 7519) that say which user signed in; signed with Ed25519 (RFC 8037). They carry no personal datum. */
export interface AccessTokens {
  /** @param nowSeconds Unix time */
  issue(userId: string, use: TokenUse, nowSeconds: number): Promise<string>;
  /** @returns the user's id; null if the token is malformed, expired, for another use, or not ours */
  verify(token: string, use: TokenUse): Promise<string | null>;
}

const ISSUER = 'consent-ledger';
const MAX_TOKEN_LENGTH = 2048;
const Subject = z.uuid();

/** The type in the header keeps the two uses apart (RFC 8725 §3.11). */
const typeOf = (use: TokenUse): string => (use === 'access' ? 'at+jwt' : 'rt+jwt');

/** Tokens of this installation, for itself. */
export function createAccessTokens(keyring: Keyring): AccessTokens {
  return {
    issue: async (userId, use, nowSeconds) => {
      const { current } = await keyring.jwtKeys();
      return new SignJWT()
        .setProtectedHeader({ alg: 'EdDSA', kid: current.keyId, typ: typeOf(use) })
        .setIssuer(ISSUER)
        .setAudience(ISSUER)
        .setSubject(userId)
        .setIssuedAt(nowSeconds)
        .setExpirationTime(nowSeconds + TOKEN_LIFETIMES[use])
        .sign(current.privateKey);
    },
    verify: async (token, use) => {
      if (token.length > MAX_TOKEN_LENGTH) return null;
      const { all } = await keyring.jwtKeys();
      try {
        const { payload } = await jwtVerify(
          token,
          ({ kid }) => {
            const key = all.find(({ keyId }) => keyId === kid);
            if (key === undefined) throw new errors.JWKSNoMatchingKey();
            return key.publicKey;
          },
          { algorithms: ['EdDSA'], issuer: ISSUER, audience: ISSUER, typ: typeOf(use), requiredClaims: ['exp', 'sub'] },
        );
        return Subject.safeParse(payload.sub).data ?? null;
      } catch (error) {
        if (error instanceof errors.JOSEError) return null;
        throw error;
      }
    },
  };
}
