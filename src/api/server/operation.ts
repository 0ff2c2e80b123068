import * as z from 'zod';
import type { UserRole } from '../../../schemas/api/auth.js';
import type { ErrorCode } from '../../../schemas/api/error-codes.js';
import { NoBody } from '../../../schemas/api/panel/common.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';

/** The credentials that an operation requires, and the limit on the number of its requests. */
export interface Access {
  /**
   * Scope that the API key must have, where `write` includes `read`. Null if the operation uses no API key.
   */
  readonly apiKey: 'read' | 'write' | null;
  /** Whether the request must be signed with the API key. */
  readonly isSigned: boolean;
  /**
   * Roles of which the user of the bearer token must have one. Null if the operation uses no bearer token.
   */
  readonly roles: readonly UserRole[] | null;
  /**
   * What the rate limit counts: every request of the key's tenant (`plan`), of the user, or from the client's address,
   * or only failed attempts. `configuration` is like `plan`, except that publishable keys count only by address,
   * because a page loads the configuration before its visitor does anything. Null if there is no limit.
   */
  readonly limit: 'plan' | 'configuration' | 'user' | 'address' | 'failures' | null;
}

/** Roles that may use the panel: every role except `api_user`. */
export const PANEL_ROLES: readonly UserRole[] = ['owner', 'admin', 'dpo', 'viewer'];

/** The role of the bearer token of a backend. */
export const BACKEND: readonly UserRole[] = ['api_user'];

/** The query of an operation without query parameters that ignores those it does not know. */
export const AnyQuery = z.object({});

/**
 * An example of a successful request and its response. `openapi/values.ts` names the values that
 * differ in every installation.
 */
export interface OperationExample {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  readonly response?: JsonObject;
}

/** A response body that is not JSON. */
export interface FileContent {
  readonly mediaType: string;
  readonly description: string;
}

/**
 * One route and method of the HTTP API: the only place that states its path, access, schemas,
 * status and errors. Route registration, checks, handler types, the OpenAPI documents, the
 * generated documentation and the error lists are derived from it.
 */
export interface Operation {
  /** `operationId` of the OpenAPI document, e.g. `createSite`. */
  readonly id: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Path from the root of the service, e.g. `/api/v1/sites/{site_id}`. */
  readonly path: string;
  /** Group of the OpenAPI document, e.g. `Sites`. */
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly params: z.ZodObject;
  /** Whether the last path parameter may contain slashes. */
  readonly isLastSlashed?: true;
  /** Response to path parameters that `params` refuses; if omitted, `VALIDATION_ERROR`. */
  readonly invalidParams?: ErrorCode;
  readonly query: z.ZodObject;
  /** `NoBody` if the operation has none. */
  readonly body: z.ZodType;
  /** Largest body in bytes; if omitted, 65,536. */
  readonly bodyLimit?: number;
  readonly status: 200 | 201 | 202;
  /** Schema of the JSON response. */
  readonly response: z.ZodType;
  /** The response body, if it is not JSON. */
  readonly download?: FileContent;
  /** Response bodies that a request may ask for instead of JSON. */
  readonly alternatives?: readonly FileContent[];
  /** Headers of a request beside its credentials, by name, with their descriptions. None is required. */
  readonly requestHeaders?: Readonly<Record<string, string>>;
  /** Headers of the successful response, by name, with their descriptions. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Errors in addition to those that `errorsOf` derives from the other members. */
  readonly errors: readonly ErrorCode[];
  readonly example: OperationExample;
  /** Action of the audit log's entry, e.g. `site.create`, or null if the operation writes none. */
  readonly action: string | null;
  /**
   * Set if only a signed-in user can call the operation, because it concerns that user. Otherwise it is also a command
   * of `consent-ledger admin`.
   */
  readonly isForUsers?: true;
}

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
/** Errors that every operation with a body can return. */
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
  // Even a request that should have no body can have a malformed one.
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
