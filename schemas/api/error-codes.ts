/**
 * Every failure that a caller of the HTTP API can cause or meet: its stable code, HTTP status and what it means. This table is the documentation,
 * the OpenAPI description and the only source of codes. Those without `isOwn` are what the Tool
 * API's callers are promised (docs/http-api.md); the others were added for the panel, for sign-in, and for limits of this service.
 */
export const ERROR_CODES = {
  MISSING_API_KEY: { status: 401, meaning: 'The header X-API-Key is absent.' },
  INVALID_API_KEY: { status: 401, meaning: 'The API key is unknown or revoked.' },
  MISSING_SIGNATURE_HEADERS: { status: 401, meaning: 'X-Signature, X-Timestamp or X-Nonce is absent.' },
  TIMESTAMP_EXPIRED: { status: 401, meaning: 'X-Timestamp is not within 300 seconds of the server time.' },
  INVALID_SIGNATURE: { status: 401, meaning: 'X-Signature does not fit the request.' },
  INVALID_NONCE: { status: 401, meaning: 'X-Nonce is not 8 to 128 characters of A-Z a-z 0-9 . _ : -.' },
  NONCE_REPLAYED: { status: 401, meaning: 'This nonce was used before.' },
  MISSING_BEARER_TOKEN: { status: 401, meaning: 'The header Authorization: Bearer is absent.' },
  INVALID_BEARER_TOKEN: { status: 401, meaning: 'The bearer token is malformed, expired or not ours.' },
  INVALID_CREDENTIALS: { status: 401, isOwn: true, meaning: 'E-mail and password do not fit.' },
  SITE_NOT_VERIFIED: { status: 403, meaning: 'The site is not verified.' },
  ORIGIN_NOT_ALLOWED: { status: 403, meaning: 'The origin is not in the allow-list of the site.' },
  IP_NOT_ALLOWED: { status: 403, meaning: 'The address is not in the allow-list of the site.' },
  INSUFFICIENT_ROLE: { status: 403, meaning: 'The user has not the role that the route asks for.' },
  TENANT_MISMATCH: { status: 403, meaning: 'The user belongs to another tenant than the site.' },
  INSUFFICIENT_SCOPE: { status: 403, isOwn: true, meaning: 'The scope of the API key does not allow the method.' },
  DOCUMENT_NOT_FOUND: { status: 404, meaning: 'The document is unknown, or has no active version.' },
  VERSION_NOT_FOUND: { status: 404, meaning: 'The document version is unknown.' },
  CONSENT_NOT_FOUND: { status: 404, meaning: 'The record is unknown.' },
  SITE_NOT_FOUND: { status: 404, isOwn: true, meaning: 'The tenant has no such site.' },
  RESOURCE_NOT_FOUND: { status: 404, isOwn: true, meaning: 'There is no such resource.' },
  CHECKPOINT_NOT_FOUND: { status: 404, isOwn: true, meaning: 'There is no stamped checkpoint of this size.' },
  ROUTE_NOT_FOUND: { status: 404, isOwn: true, meaning: 'There is no such route.' },
  METHOD_NOT_ALLOWED: { status: 405, isOwn: true, meaning: 'The route exists, but not for this method.' },
  REQUEST_TIMEOUT: { status: 408, isOwn: true, meaning: 'The request did not arrive in time.' },
  CONFIG_OUTDATED: {
    status: 409,
    meaning:
      'document_version_id is missing, not active or of another language, or the site has no published configuration. Read /tool/v1/config again.',
  },
  ALREADY_EXISTS: { status: 409, isOwn: true, meaning: 'There is one of this name already.' },
  DOMAIN_NOT_VERIFIED: {
    status: 409,
    isOwn: true,
    meaning: 'The DNS of the domain does not say that it is the tenant’s.',
  },
  WRONG_STATE: { status: 409, isOwn: true, meaning: 'The resource is in a state that does not allow this.' },
  EXPORT_NOT_FINISHED: { status: 409, isOwn: true, meaning: 'The export is not finished yet: ask for its state.' },
  EXPORT_GONE: {
    status: 410,
    isOwn: true,
    meaning: 'The package is not kept any more, or never was: see the state of the export. Export again.',
  },
  PAYLOAD_TOO_LARGE: { status: 413, isOwn: true, meaning: 'The body is larger than the route takes.' },
  RANGE_NOT_SATISFIABLE: { status: 416, isOwn: true, meaning: 'The content ends before the range begins.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, isOwn: true, meaning: 'The body is not application/json.' },
  MALFORMED_JSON: { status: 400, isOwn: true, meaning: 'The body is not strict JSON in UTF-8.' },
  BAD_REQUEST: { status: 400, isOwn: true, meaning: 'The request is malformed.' },
  VALIDATION_ERROR: { status: 422, meaning: 'Fields are missing or wrong; see errors.' },
  IDENTIFIER_REQUIRED: { status: 422, isOwn: true, meaning: 'None of token, proof_hash and id was given.' },
  APPROVAL_TOKEN_REQUIRED: { status: 422, meaning: 'This document asks for an approval token.' },
  APPROVAL_TOKEN_INVALID: { status: 422, meaning: 'The approval token is unknown, expired, or for something else.' },
  APPROVAL_TOKEN_CONFLICT: {
    status: 422,
    meaning: 'The approval token was used before, or the request contradicts it.',
  },
  INVITATION_INVALID: {
    status: 422,
    isOwn: true,
    meaning: 'The invitation is unknown, expired, used or revoked, or its address cannot be used.',
  },
  PASSWORD_RESET_INVALID: {
    status: 422,
    isOwn: true,
    meaning: 'The password reset is unknown, expired, used or revoked.',
  },
  INVALID_CATEGORIES: { status: 422, meaning: 'categories is not an object of booleans.' },
  METADATA_TOO_MANY_KEYS: { status: 422, meaning: 'metadata has more than 30 keys.' },
  METADATA_TOO_LARGE: { status: 422, meaning: 'metadata is larger than 16384 bytes.' },
  EXTRA_FIELDS_TOO_MANY_KEYS: { status: 422, meaning: 'extra_fields has more than 30 keys.' },
  EXTRA_FIELD_NAME_TOO_LONG: { status: 422, meaning: 'A name in extra_fields is longer than 100 characters.' },
  EXTRA_FIELDS_TOO_LARGE: { status: 422, meaning: 'extra_fields is larger than 16384 bytes.' },
  STROKES_DATA_TOO_LARGE: { status: 422, meaning: 'strokes_data is larger than 65536 bytes.' },
  INVALID_SIGNATURE_IMAGE: { status: 422, meaning: 'signature_image is not base64 of an image of the stated type.' },
  SIGNATURE_IMAGE_TOO_LARGE: { status: 422, meaning: 'signature_image is larger than 262144 bytes.' },
  INVALID_CUSTOM_DOCUMENT: {
    status: 422,
    meaning:
      'custom_document_content is empty or not of the stated type; a PDF and the content of a data: URL must be base64.',
  },
  UNSUPPORTED_CUSTOM_DOCUMENT_TYPE: { status: 422, meaning: 'custom_document_mime_type is not supported.' },
  CUSTOM_DOCUMENT_TOO_LARGE: { status: 422, meaning: 'custom_document_content is larger than 1048576 bytes.' },
  RATE_LIMIT_EXCEEDED: { status: 429, meaning: 'More requests in this minute than the plan allows.' },
  CONSENT_LIMIT_EXCEEDED: { status: 429, meaning: 'The consent quota of the plan is used up.' },
  NO_CONSENT_SUBSCRIPTION: { status: 429, meaning: 'The tenant has no active plan.' },
  TOO_MANY_INVALID_API_KEYS: { status: 429, meaning: 'Too many requests with invalid keys from this address.' },
  TENANT_LIMIT_EXCEEDED: { status: 429, isOwn: true, meaning: 'The tenant has made ten others within a day.' },
  TOO_MANY_SIGN_IN_ATTEMPTS: { status: 429, isOwn: true, meaning: 'Too many sign-in attempts.' },
  EXPORT_LIMIT_EXCEEDED: {
    status: 429,
    isOwn: true,
    meaning: 'The tenant has as many exports queued, running or kept as it may have.',
  },
  QUEUE_OVERLOADED: { status: 503, meaning: 'Too many records wait for the log. Retry after Retry-After.' },
  ADMISSION_UNAVAILABLE: {
    status: 503,
    meaning: 'Records cannot be admitted now. Retry after Retry-After with the same idempotency_key.',
  },
  API_KEY_LOOKUP_UNAVAILABLE: { status: 503, meaning: 'API keys cannot be looked up now. Retry after Retry-After.' },
  DNS_UNAVAILABLE: { status: 503, isOwn: true, meaning: 'The DNS does not answer. Retry after Retry-After.' },
  SERVICE_UNAVAILABLE: {
    status: 503,
    isOwn: true,
    meaning: 'The request cannot be answered now. Retry after Retry-After.',
  },
  INTERNAL_ERROR: {
    status: 500,
    isOwn: true,
    meaning: 'An error of the service. Nothing was recorded by this request unless a retry says so.',
  },
} as const satisfies Record<string, { readonly status: number; readonly meaning: string; readonly isOwn?: true }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Why a consent can be refused, beside the errors that every request with a key, a signature and a body shares. */
export const CONSENT_ERROR_CODES: readonly ErrorCode[] = [
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

/** One wrong field: where it is (`consents.3.decision`) and what is wrong with it. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** A failure that the caller is told about, by its code. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;

  /**
   * @param message what happened and what to do, in plain words; the table's meaning if not given
   * @param details field errors, seconds to wait, extra headers
   */
  constructor(
    readonly code: ErrorCode,
    message: string = ERROR_CODES[code].meaning,
    readonly details: {
      readonly errors?: readonly FieldError[];
      readonly retryAfterSeconds?: number;
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(message);
    this.status = ERROR_CODES[code].status;
  }
}
