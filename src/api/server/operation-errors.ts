import type { ErrorCode } from '../../../schemas/api/error-codes.js';
import { NoBody } from '../../../schemas/api/panel/common.js';
import { type Access, AnyQuery, type Operation } from './operation.js';

/** Errors that every operation can return. */
export const COMMON_ERRORS: readonly ErrorCode[] = [
  'BAD_REQUEST',
  'REQUEST_TIMEOUT',
  'HEADERS_TOO_LARGE',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
];
const OF_API_KEY: readonly ErrorCode[] = [
  'MISSING_API_KEY',
  'INVALID_API_KEY',
  'SITE_NOT_VERIFIED',
  'ORIGIN_NOT_ALLOWED',
  'IP_NOT_ALLOWED',
  'TOO_MANY_INVALID_API_KEYS',
  'API_KEY_LOOKUP_UNAVAILABLE',
];
const OF_SIGNATURE: readonly ErrorCode[] = [
  'MISSING_SIGNATURE_HEADERS',
  'TIMESTAMP_EXPIRED',
  'INVALID_NONCE',
  'INVALID_SIGNATURE',
  'NONCE_REPLAYED',
];
const OF_BEARER: readonly ErrorCode[] = ['MISSING_BEARER_TOKEN', 'INVALID_BEARER_TOKEN', 'INSUFFICIENT_ROLE'];
/** Errors that every operation can return that reads a body. */
export const BODY_ERRORS: readonly ErrorCode[] = ['UNSUPPORTED_MEDIA_TYPE', 'PAYLOAD_TOO_LARGE', 'MALFORMED_JSON'];

/**
 * All error codes that an operation can return, without duplicates: its own codes, and those that
 * follow from its other members.
 */
export function errorsOf(operation: Operation): readonly ErrorCode[] {
  const { access, params, invalidParams, query, path, errors } = operation;
  const codes: ErrorCode[] = [...COMMON_ERRORS, ...errorsOfAccess(access)];
  if (Object.keys(params.shape).length > 0) codes.push(invalidParams ?? 'VALIDATION_ERROR');
  if (query !== AnyQuery) codes.push('VALIDATION_ERROR');
  if (path.includes('{site_id}')) codes.push('SITE_NOT_FOUND');
  // A request that should have no body can have a malformed one.
  if (hasBody(operation) || operation.method !== 'get') codes.push(...BODY_ERRORS, 'VALIDATION_ERROR');
  return [...new Set([...codes, ...errors])];
}

/** Whether the operation uses a request body. */
export function hasBody({ body }: Operation): boolean {
  return body !== NoBody;
}

function errorsOfAccess({ apiKey, isSigned, roles, limit }: Access): readonly ErrorCode[] {
  const codes: ErrorCode[] = [];
  if (apiKey !== null) codes.push(...OF_API_KEY);
  if (apiKey === 'write' || (apiKey !== null && roles !== null)) codes.push('INSUFFICIENT_SCOPE');
  if (isSigned) codes.push(...OF_SIGNATURE);
  if (roles !== null) codes.push(...OF_BEARER);
  if (apiKey !== null && roles !== null) codes.push('TENANT_MISMATCH');
  if (limit !== null) codes.push(limit === 'failures' ? 'TOO_MANY_SIGN_IN_ATTEMPTS' : 'RATE_LIMIT_EXCEEDED');
  return codes;
}
