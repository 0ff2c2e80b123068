import { timingSafeEqual } from 'node:crypto';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { utf8 } from '../../../schemas/crypto/encoding.js';

/**
 * Requires one of some bearer tokens of a request.
 * @param authorization the header
 * @param digests SHA-256 digests of the tokens, 32 bytes each
 * @throws ApiError MISSING_BEARER_TOKEN, INVALID_BEARER_TOKEN
 */
export function requireBearerToken(authorization: string | undefined, digests: readonly Uint8Array[]): void {
  if (authorization === undefined) throw new ApiError('MISSING_BEARER_TOKEN');
  const given = sha256(utf8(/^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? ''));
  // Each is compared, and all have one length: the time says nothing about the tokens.
  const matches = digests.filter((digest) => timingSafeEqual(given, digest));
  if (matches.length === 0) throw new ApiError('INVALID_BEARER_TOKEN');
}
