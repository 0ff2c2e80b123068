import type { FastifyReply } from 'fastify';
import { ApiError, type ErrorCode, type FieldError } from '../../../schemas/api/error-codes.js';
import { EventLogUnavailable, LogDamaged } from '../../pipeline/event-log/errors.js';
import { isConnectionFailure } from '../../platform/database/connection-failure.js';
import { type ChangeRefusalCode, ChangeRefused } from '../../platform/errors/change-refused.js';
import { RequestRefused } from '../../platform/errors/request-refused.js';
import { serviceUnavailable } from '../../platform/errors/service-unavailable.js';

declare module 'fastify' {
  interface FastifyReply {
    /** Code of the error that was sent, for metrics. */
    errorCode?: ErrorCode;
  }
}

/** Every error response has this shape; `code`, `error_code` and `error.code` are the same. */
export interface ErrorBody {
  readonly message: string;
  readonly code: ErrorCode;
  readonly error_code: ErrorCode;
  readonly error: { readonly code: ErrorCode; readonly message: string };
  readonly errors?: readonly FieldError[];
  readonly challenge?: string;
}

export function errorBody(error: ApiError): ErrorBody {
  const { code, message, details } = error;
  const { errors, challenge } = details;
  return {
    ...{ message, code, error_code: code, error: { code, message } },
    ...(errors === undefined ? {} : { errors }),
    ...(challenge === undefined ? {} : { challenge }),
  };
}

/**
 * Sends an error response: status, headers, body, and further members (`valid: false` of the verify
 * routes).
 */
export function sendError(reply: FastifyReply, error: ApiError, further: Readonly<Record<string, unknown>> = {}) {
  const { headers, retryAfterSeconds } = error.details;
  reply.errorCode = error.code;
  if (headers !== undefined) reply.headers(headers);
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(Math.max(1, Math.ceil(retryAfterSeconds))));
  if (error.status === 401) reply.header('www-authenticate', challengeOf(error.code));
  return reply.code(error.status).send({ ...errorBody(error), ...further });
}

/** RFC 9110 §15.5.2: a 401 names the scheme that would be accepted. */
function challengeOf(code: ErrorCode): string {
  return /BEARER|CREDENTIALS/.test(code) ? 'Bearer' : 'ApiKey';
}

const FASTIFY_CODES: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_EMPTY_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_INVALID_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
};

const CHANGE_REFUSED_CODES: Readonly<Record<ChangeRefusalCode, ErrorCode>> = {
  not_found: 'RESOURCE_NOT_FOUND',
  already_exists: 'ALREADY_EXISTS',
  wrong_state: 'WRONG_STATE',
  invalid: 'VALIDATION_ERROR',
};

/**
 * Translates a failure into the response to the client. This is the one place where errors of the
 * domain meet HTTP status codes.
 * @returns null for a failure of the service itself, to be logged and answered as INTERNAL_ERROR
 */
export function apiErrorOf(error: unknown): ApiError | null {
  if (error instanceof ApiError) return error;
  if (error instanceof RequestRefused) {
    return Object.assign(new ApiError(error.code, error.message, error.details), { cause: error.cause });
  }
  if (error instanceof ChangeRefused) return new ApiError(CHANGE_REFUSED_CODES[error.code], error.message);
  if (!(error instanceof Error)) return null;
  if (error instanceof EventLogUnavailable || error instanceof LogDamaged || isConnectionFailure(error)) {
    return apiErrorOf(serviceUnavailable({ cause: error }));
  }
  const code = 'code' in error ? FASTIFY_CODES[String(error.code)] : undefined;
  if (code !== undefined) return new ApiError(code);
  const status = 'statusCode' in error ? Number(error.statusCode) : 500;
  return status >= 400 && status < 500 ? new ApiError('BAD_REQUEST') : null;
}
