import type { ErrorCode } from '../../../schemas/api/error-codes.js';
import type { Access } from './operation.js';

const EVERYWHERE: readonly ErrorCode[] = ['BAD_REQUEST', 'REQUEST_TIMEOUT', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE'];
const WITH_KEY: readonly ErrorCode[] = [
  'MISSING_API_KEY',
  'INVALID_API_KEY',
  'SITE_NOT_VERIFIED',
  'ORIGIN_NOT_ALLOWED',
  'IP_NOT_ALLOWED',
  'RATE_LIMIT_EXCEEDED',
  'TOO_MANY_INVALID_API_KEYS',
  'API_KEY_LOOKUP_UNAVAILABLE',
];
const WITH_BEARER: readonly ErrorCode[] = ['MISSING_BEARER_TOKEN', 'INVALID_BEARER_TOKEN', 'INSUFFICIENT_ROLE'];
const WITH_SIGNATURE: readonly ErrorCode[] = [
  'MISSING_SIGNATURE_HEADERS',
  'TIMESTAMP_EXPIRED',
  'INVALID_NONCE',
  'INVALID_SIGNATURE',
  'NONCE_REPLAYED',
  'INSUFFICIENT_SCOPE',
];

/** What every request with a body can meet. */
export const WITH_BODY: readonly ErrorCode[] = [
  'UNSUPPORTED_MEDIA_TYPE',
  'PAYLOAD_TOO_LARGE',
  'MALFORMED_JSON',
  'VALIDATION_ERROR',
];

/** What a consent can be refused for. */
export const OF_CONSENTS: readonly ErrorCode[] = [
  'CONFIG_OUTDATED',
  'APPROVAL_TOKEN_REQUIRED',
  'APPROVAL_TOKEN_INVALID',
  'APPROVAL_TOKEN_CONFLICT',
  'INVALID_CATEGORIES',
  'METADATA_TOO_MANY_KEYS',
  'METADATA_TOO_LARGE',
  'EXTRA_FIELDS_TOO_MANY_KEYS',
  'EXTRA_FIELD_NAME_TOO_LONG',
  'EXTRA_FIELDS_TOO_LARGE',
  'STROKES_DATA_TOO_LARGE',
  'INVALID_SIGNATURE_IMAGE',
  'SIGNATURE_IMAGE_TOO_LARGE',
  'INVALID_CUSTOM_DOCUMENT',
  'UNSUPPORTED_CUSTOM_DOCUMENT_TYPE',
  'CUSTOM_DOCUMENT_TOO_LARGE',
  'CONSENT_LIMIT_EXCEEDED',
  'NO_CONSENT_SUBSCRIPTION',
  'QUEUE_OVERLOADED',
  'ADMISSION_UNAVAILABLE',
];

/** The errors that come with a route's credentials. */
export function errorsOfAccess(access: Access): readonly ErrorCode[] {
  const isKeyed = access.includes('key');
  const isBearer = access.includes('bearer');
  return [
    ...EVERYWHERE,
    ...(isKeyed ? WITH_KEY : []),
    ...(access.startsWith('signed') ? WITH_SIGNATURE : []),
    ...(isBearer ? WITH_BEARER : []),
    ...(isKeyed && isBearer ? (['TENANT_MISMATCH'] as const) : []),
  ];
}
