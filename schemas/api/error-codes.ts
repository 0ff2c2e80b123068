/**
 * Every error of the HTTP API: its stable code, its HTTP status and its meaning, which says what is
 * wrong, where, and what to do next. The table is the only source of codes; the documentation and
 * the OpenAPI documents follow from it. Codes without `isOwn` are part of the specification of the
 * Tool API (docs/http-api.md); the others were added for the panel, for sign-in and for limits of
 * this service.
 */
export const ERROR_CODES = {
  MISSING_API_KEY: { status: 401, meaning: 'The header X-API-Key is missing. Send the API key of the site.' },
  INVALID_API_KEY: {
    status: 401,
    meaning: 'The API key in X-API-Key is unknown, expired or revoked. Use a current key of the site.',
  },
  MISSING_SIGNATURE_HEADERS: {
    status: 401,
    meaning: 'X-Signature, X-Timestamp or X-Nonce is missing. Sign the request and send all three headers.',
  },
  TIMESTAMP_EXPIRED: {
    status: 401,
    meaning:
      'X-Timestamp is not a Unix time within 300 seconds of the server time. Correct the clock and sign the request again.',
  },
  INVALID_SIGNATURE: {
    status: 401,
    meaning:
      'X-Signature does not match the request. Sign method, path, timestamp, nonce and the exact bytes of the body with the API key.',
  },
  INVALID_NONCE: {
    status: 401,
    meaning: 'X-Nonce is not 8 to 128 characters of A-Z a-z 0-9 . _ : -. Send a UUID, for example.',
  },
  NONCE_REPLAYED: { status: 401, meaning: 'This nonce was used before. Sign the request again with a new nonce.' },
  MISSING_BEARER_TOKEN: {
    status: 401,
    meaning: 'The header Authorization: Bearer is missing. Sign in and send the access token.',
  },
  INVALID_BEARER_TOKEN: {
    status: 401,
    meaning: 'The bearer token is malformed, expired or revoked. Renew it or sign in again.',
  },
  INVALID_CREDENTIALS: { status: 401, isOwn: true, meaning: 'Wrong e-mail address or password.' },
  SECOND_FACTOR_REQUIRED: {
    status: 401,
    isOwn: true,
    meaning:
      'The password is right, and the user has a second factor. Send totp_code, recovery_code or passkey as well.',
  },
  SECOND_FACTOR_INVALID: {
    status: 401,
    isOwn: true,
    meaning:
      'The code or the passkey is wrong, expired or was used before. Wait for the next code of the authenticator app, or ask for a new challenge.',
  },
  PASSKEY_INVALID: {
    status: 401,
    isOwn: true,
    meaning:
      'The passkey is unknown or was removed, its user is disabled, or the answer of the authenticator is wrong or too old. Ask for a new challenge, or sign in with the password.',
  },
  SITE_NOT_VERIFIED: { status: 403, meaning: 'The domain of the site is not verified. Verify it in the panel first.' },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    meaning:
      'The header Origin is not one of the allowed origins of the site. Add the origin in the panel. A publishable key requires the header, and a secret key must not be used in a browser.',
  },
  IP_NOT_ALLOWED: {
    status: 403,
    meaning: 'The address of the client is not one of the allowed addresses of the site. Add the address in the panel.',
  },
  CROSS_SITE_REQUEST: {
    status: 403,
    isOwn: true,
    meaning:
      'The request uses the cookie of the refresh token, and no page of the service sent it. Clients other than browsers use refresh tokens in the body.',
  },
  SIGN_UP_CLOSED: {
    status: 403,
    isOwn: true,
    meaning: 'This installation takes users by invitation only. Ask the owner of your organisation, or the operator.',
  },
  INSUFFICIENT_ROLE: { status: 403, meaning: 'The user does not have a role that this route requires.' },
  TENANT_MISMATCH: {
    status: 403,
    meaning: 'The user of the bearer token belongs to a different tenant than the site of the API key.',
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    isOwn: true,
    meaning: 'This route requires an API key of scope write. S2S routes accept no publishable key.',
  },
  TEST_KEY_REFUSED: {
    status: 403,
    isOwn: true,
    meaning: 'This route accepts no test key, because a test record is no evidence. Use a live key.',
  },
  LIVE_KEY_REFUSED: {
    status: 403,
    isOwn: true,
    meaning: 'This route is about test records, and accepts no live key. Use a test key.',
  },
  DOCUMENT_NOT_FOUND: { status: 404, meaning: 'The site has no such document, or the document has no active version.' },
  VERSION_NOT_FOUND: { status: 404, meaning: 'The site has no such document version.' },
  CONSENT_NOT_FOUND: {
    status: 404,
    meaning: 'No record matches the identifier. A new record can be found a moment after it was accepted.',
  },
  SITE_NOT_FOUND: { status: 404, isOwn: true, meaning: 'The tenant has no such site.' },
  RESOURCE_NOT_FOUND: { status: 404, isOwn: true, meaning: 'The resource in the path does not exist.' },
  CHECKPOINT_NOT_FOUND: {
    status: 404,
    isOwn: true,
    meaning: 'The ledger has no stamped checkpoint of this size. GET /checkpoints lists the sizes.',
  },
  TILE_NOT_FOUND: {
    status: 404,
    isOwn: true,
    meaning:
      'The ledger has no such tile, bundle of entries or structure file below its newest stamped checkpoint. GET /checkpoints/log/checkpoint states its size.',
  },
  ROUTE_NOT_FOUND: { status: 404, isOwn: true, meaning: 'The service has no such route. Check the path.' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    isOwn: true,
    meaning: 'The route does not support this method. The header Allow lists the methods that it supports.',
  },
  REQUEST_TIMEOUT: { status: 408, isOwn: true, meaning: 'The request did not arrive in time. Send it again.' },
  CONFIG_OUTDATED: {
    status: 409,
    meaning:
      'document_version_id is missing, not active or of another language, or the site has no published configuration. Read /tool/v1/config again.',
  },
  ACCOUNTS_OFF: {
    status: 409,
    isOwn: true,
    meaning: 'Choices of accounts are off in the configuration in force. Turn them on, and publish it.',
  },
  ALREADY_EXISTS: {
    status: 409,
    isOwn: true,
    meaning: 'A resource with this name already exists. Choose another name.',
  },
  DOMAIN_NOT_VERIFIED: {
    status: 409,
    isOwn: true,
    meaning: 'No proof of domain ownership was found. The message says what was found instead.',
  },
  WRONG_STATE: {
    status: 409,
    isOwn: true,
    meaning: 'The resource is in a state that does not permit this change. Read it again.',
  },
  MAIL_NOT_CONFIGURED: {
    status: 409,
    isOwn: true,
    meaning: 'The service sends no mail. An owner or admin of the organisation creates a reset token instead.',
  },
  PASSKEYS_NOT_CONFIGURED: {
    status: 409,
    isOwn: true,
    meaning:
      'This installation has no passkeys. They require PUBLIC_URL with https and a host name, or http://localhost.',
  },
  EXPORT_NOT_FINISHED: {
    status: 409,
    isOwn: true,
    meaning: 'The export is not finished yet. Read its state again later.',
  },
  RECEIPT_NOT_READY: {
    status: 409,
    isOwn: true,
    meaning: 'No time stamp covers the record yet. Ask for its receipt again after `Retry-After`.',
  },
  EXPORT_GONE: {
    status: 410,
    isOwn: true,
    meaning:
      'The package of the export is no longer stored, or never was; the state of the export says why. Create a new export.',
  },
  EVENT_GONE: {
    status: 410,
    isOwn: true,
    meaning: 'The record of the message was erased, or its event is no longer kept: it cannot be sent again.',
  },
  PAYLOAD_TOO_LARGE: { status: 413, isOwn: true, meaning: 'The body is larger than this route permits.' },
  RANGE_NOT_SATISFIABLE: {
    status: 416,
    isOwn: true,
    meaning: 'The range begins after the end of the content. Content-Range states the length.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    isOwn: true,
    meaning: 'The request has more than 200 header lines or 16 KiB of headers. Send fewer.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    isOwn: true,
    meaning: 'The body is not application/json without a content coding.',
  },
  MALFORMED_JSON: { status: 400, isOwn: true, meaning: 'The body is not strict JSON in UTF-8.' },
  BAD_REQUEST: { status: 400, isOwn: true, meaning: 'The request is not valid HTTP, or its URL cannot be decoded.' },
  VALIDATION_ERROR: {
    status: 422,
    meaning: 'At least one field is missing or invalid. The member errors lists each field with the reason.',
  },
  IDENTIFIER_REQUIRED: {
    status: 422,
    isOwn: true,
    meaning: 'The request names no record. Send token, proof_hash or id.',
  },
  APPROVAL_TOKEN_REQUIRED: {
    status: 422,
    meaning: 'This document requires approval_token. Mint one at /tool/v1/s2s/approval-tokens.',
  },
  APPROVAL_TOKEN_INVALID: {
    status: 422,
    meaning: 'approval_token is unknown, expired, or for another site, document or version. Mint a new one.',
  },
  APPROVAL_TOKEN_CONFLICT: {
    status: 422,
    meaning: 'approval_token was used before, or the consent contradicts what it was minted for.',
  },
  PERSON_TOKEN_INVALID: {
    status: 422,
    isOwn: true,
    meaning: 'The person token is unknown, expired, or for another site. Mint a new one at /tool/v1/s2s/person-tokens.',
  },
  PERSON_TOKEN_CONFLICT: {
    status: 422,
    isOwn: true,
    meaning: 'The person token was used before, or it is for another person than visitor_id names.',
  },
  INVITATION_INVALID: {
    status: 422,
    isOwn: true,
    meaning:
      'The invitation is unknown, expired, used or revoked, or its e-mail address cannot be used. Ask for a new invitation.',
  },
  SCAN_URL_REFUSED: {
    status: 422,
    isOwn: true,
    meaning:
      'The URL cannot be scanned: it is not on a verified domain of the tenant, or has credentials or a port other than 80 and 443.',
  },
  SCAN_FAILED: {
    status: 422,
    isOwn: true,
    meaning:
      'The page could not be loaded from a public address, or leads to another domain. Check the page, then scan it again.',
  },
  PROOF_OF_WORK_REQUIRED: {
    status: 422,
    isOwn: true,
    meaning: 'Many accounts were created within a day. Answer the challenge with proof_of_work.',
  },
  SIGN_UP_INVALID: {
    status: 422,
    isOwn: true,
    meaning:
      'The sign-up is unknown, expired or completed, or its e-mail address cannot be used. Sign up again, or sign in.',
  },
  PASSWORD_RESET_INVALID: {
    status: 422,
    isOwn: true,
    meaning: 'The reset token is unknown, expired, used or revoked. Ask for a new one.',
  },
  INVALID_CATEGORIES: {
    status: 422,
    meaning:
      'categories or services is not an object whose values are all true or false, refuses a required category, grants an optional one although the decision is rejected, or refuses a service of a granted category.',
  },
  METADATA_TOO_MANY_KEYS: { status: 422, meaning: 'metadata has more than 30 keys.' },
  METADATA_TOO_LARGE: { status: 422, meaning: 'metadata is larger than 16384 bytes as JSON.' },
  EXTRA_FIELDS_TOO_MANY_KEYS: { status: 422, meaning: 'extra_fields has more than 30 keys.' },
  EXTRA_FIELD_NAME_TOO_LONG: { status: 422, meaning: 'A key of extra_fields is longer than 100 characters.' },
  EXTRA_FIELDS_TOO_LARGE: { status: 422, meaning: 'extra_fields is larger than 16384 bytes as JSON.' },
  STROKES_DATA_TOO_LARGE: { status: 422, meaning: 'strokes_data is larger than 65536 bytes as JSON.' },
  INVALID_SIGNATURE_IMAGE: {
    status: 422,
    meaning: 'signature_image is not the base64 of an image of the type that signature_mime_type states.',
  },
  SIGNATURE_IMAGE_TOO_LARGE: { status: 422, meaning: 'signature_image is larger than 262144 bytes when decoded.' },
  INVALID_CUSTOM_DOCUMENT: {
    status: 422,
    meaning:
      'custom_document_content is empty, or not of the type that custom_document_mime_type states. A PDF and the content of a data: URL must be base64.',
  },
  UNSUPPORTED_CUSTOM_DOCUMENT_TYPE: { status: 422, meaning: 'custom_document_mime_type is not a supported type.' },
  CUSTOM_DOCUMENT_TOO_LARGE: {
    status: 422,
    meaning: 'custom_document_content is larger than 1048576 bytes when decoded.',
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    meaning: 'The rate limit for this minute is used up. Retry after the time in Retry-After.',
  },
  CONSENT_LIMIT_EXCEEDED: {
    status: 429,
    meaning: 'The consent quota of the plan is used up. The operator of the service can change the plan.',
  },
  NO_CONSENT_SUBSCRIPTION: {
    status: 429,
    meaning: 'The tenant has no active plan. The operator of the service can assign one.',
  },
  TOO_MANY_INVALID_API_KEYS: {
    status: 429,
    meaning:
      'Too many requests with invalid API keys came from this address. Retry after the time in Retry-After with a valid key.',
  },
  TENANT_LIMIT_EXCEEDED: {
    status: 429,
    isOwn: true,
    meaning: 'Ten tenants were created within a day. Retry after the time in Retry-After.',
  },
  TOO_MANY_SIGN_IN_ATTEMPTS: {
    status: 429,
    isOwn: true,
    meaning: 'Too many attempts to sign in, to sign up or to reset a password. Retry after the time in Retry-After.',
  },
  EXPORT_LIMIT_EXCEEDED: {
    status: 429,
    isOwn: true,
    meaning: 'The tenant has the maximum number of exports that are queued, running or stored. Delete one, or wait.',
  },
  SCAN_LIMIT_EXCEEDED: {
    status: 429,
    isOwn: true,
    meaning: "The tenant's scans for this minute are used up. Retry after the time in Retry-After.",
  },
  SCAN_RECORDS_EXCEEDED: {
    status: 429,
    isOwn: true,
    meaning:
      "The site's recorded scans of 24 hours are used up. Scan the page without record, or retry after Retry-After.",
  },
  SCANNER_BUSY: {
    status: 503,
    isOwn: true,
    meaning: 'Other pages are being scanned. Retry after the time in Retry-After.',
  },
  QUEUE_OVERLOADED: {
    status: 503,
    meaning:
      'Too many records wait, in this process or for the event log. Retry after the time in Retry-After with the same idempotency_key.',
  },
  ADMISSION_UNAVAILABLE: {
    status: 503,
    meaning:
      'The service cannot accept records at the moment. Retry after the time in Retry-After with the same idempotency_key.',
  },
  API_KEY_LOOKUP_UNAVAILABLE: {
    status: 503,
    meaning: 'The service cannot look up API keys at the moment. Retry after the time in Retry-After.',
  },
  DNS_UNAVAILABLE: {
    status: 503,
    isOwn: true,
    meaning: 'The DNS does not respond. Retry after the time in Retry-After.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    isOwn: true,
    meaning: 'The service cannot answer this request at the moment. Retry after the time in Retry-After.',
  },
  INTERNAL_ERROR: {
    status: 500,
    isOwn: true,
    meaning:
      'The service failed. The log has the cause under the request id of the message. Retry a recording with the same idempotency_key.',
  },
} as const satisfies Record<string, { readonly status: number; readonly meaning: string; readonly isOwn?: true }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/**
 * Why a consent can be refused, in addition to the errors that every request with a key, a signature and a body can
 * get.
 */
export const CONSENT_ERROR_CODES: readonly ErrorCode[] = [
  'CONFIG_OUTDATED',
  'APPROVAL_TOKEN_REQUIRED',
  'APPROVAL_TOKEN_INVALID',
  'APPROVAL_TOKEN_CONFLICT',
  'PERSON_TOKEN_INVALID',
  'PERSON_TOKEN_CONFLICT',
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

/** An invalid field: its path (`consents.3.decision`) and what is wrong with it. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** A failure that the client receives as a response. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;

  /**
   * @param message what is wrong and what to do next; if omitted, the meaning of the code
   * @param details field errors, a challenge, the passkeys that can prove the second factor, seconds to wait, extra headers
   */
  constructor(
    readonly code: ErrorCode,
    message: string = ERROR_CODES[code].meaning,
    readonly details: {
      readonly errors?: readonly FieldError[];
      readonly challenge?: string;
      readonly passkeys?: readonly string[];
      readonly retryAfterSeconds?: number;
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(message);
    this.status = ERROR_CODES[code].status;
  }
}
