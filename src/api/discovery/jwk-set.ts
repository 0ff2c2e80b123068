import type { JsonObject } from '../../../schemas/json/json-value.js';
import type { SigningKey } from '../../platform/keys/index.js';

/**
 * The public keys of JSON Web Tokens: RFC 7517 §5, RFC 8037 §2. Each member is written by name, so
 * that nothing private can slip in.
 * @param keys every one that a token may still be verified with
 */
export function jwkSet(keys: readonly Pick<SigningKey, 'keyId' | 'publicKeyBytes'>[]): JsonObject {
  return {
    keys: keys.map(({ keyId, publicKeyBytes }) => ({
      kty: 'OKP',
      crv: 'Ed25519',
      x: publicKeyBytes.toString('base64url'),
      kid: keyId,
      use: 'sig',
      alg: 'EdDSA',
    })),
  };
}
