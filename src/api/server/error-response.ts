import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { ApiError, type ErrorCode, type FieldError } from '../../../schemas/api/error-codes.js';
import { EventLogUnavailable, LogDamaged } from '../../pipeline/event-log/errors.js';
import { isConnectionFailure } from '../../platform/database/errors.js';
import { type ChangeRefusalCode, ChangeRefused, RequestRefused, serviceUnavailable } from '../../platform/errors.js';
import type { Connections } from './connections.js';

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
  readonly passkeys?: readonly string[];
}

export function errorBody(error: ApiError): ErrorBody {
  const { code, message, details } = error;
  const { errors, challenge, passkeys } = details;
  return {
    message,
    code,
    error_code: code,
    error: { code, message },
    ...(errors === undefined ? {} : { errors }),
    ...(challenge === undefined ? {} : { challenge }),
    ...(passkeys === undefined ? {} : { passkeys }),
  };
}

/** Statuses whose responses always have Retry-After (docs/http-api.md). */
const RETRIED: ReadonlySet<number> = new Set([429, 503]);
/** Retry-After for limits that cannot tell when they permit requests again. */
const RETRY_SECONDS = 60;

/**
 * Sends an error response: status, headers, body, and further members (`valid: false` of the verify
 * routes).
 */
export function sendError(reply: FastifyReply, error: ApiError, further: Readonly<Record<string, unknown>> = {}) {
  const { headers } = error.details;
  const retryAfter = retryAfterOf(error);
  reply.errorCode = error.code;
  if (headers !== undefined) reply.headers(headers);
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
  if (error.status === 401) reply.header('www-authenticate', challengeOf(error.code));
  return reply.code(error.status).send({ ...errorBody(error), ...further });
}

/** @returns the value of Retry-After, in seconds, or undefined if the response has none */
export function retryAfterOf({ status, details }: ApiError): string | undefined {
  const seconds = details.retryAfterSeconds ?? (RETRIED.has(status) ? RETRY_SECONDS : undefined);
  return seconds === undefined ? undefined : String(Math.max(1, Math.ceil(seconds)));
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
  if (error instanceof ChangeRefused) {
    const { code, message, errors } = error;
    return new ApiError(CHANGE_REFUSED_CODES[code], message, errors === undefined ? {} : { errors });
  }
  if (!(error instanceof Error)) return null;
  if (error instanceof EventLogUnavailable || error instanceof LogDamaged || isConnectionFailure(error)) {
    return apiErrorOf(serviceUnavailable({ cause: error }));
  }
  const code = 'code' in error ? FASTIFY_CODES[String(error.code)] : undefined;
  if (code !== undefined) return new ApiError(code);
  const status = 'statusCode' in error ? Number(error.statusCode) : 500;
  return status >= 400 && status < 500 ? new ApiError('BAD_REQUEST') : null;
}

const REASONS: Readonly<Record<string, { readonly line: string; readonly code: ErrorCode }>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { line: '408 Request Timeout', code: 'REQUEST_TIMEOUT' },
  HPE_HEADER_OVERFLOW: { line: '431 Request Header Fields Too Large', code: 'HEADERS_TOO_LARGE' },
};
const OTHERWISE = { line: '400 Bad Request', code: 'BAD_REQUEST' } as const;

/**
 * Ends a connection on which a request is malformed or late, with the usual error body. If complete requests on the
 * connection are in progress, they are answered and no error is sent: a client could mistake the error for the response
 * to a consent that was recorded.
 */
export function answerClientError(connections: Connections, error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const { line, code } = REASONS[error.code ?? ''] ?? OTHERWISE;
  endWithError(connections, socket, { line, error: new ApiError(code) });
}

/** Ends a connection with the given error, by the same rules. @param line status and reason of the status line */
export function endWithError(
  connections: Connections,
  socket: Socket,
  { line, error }: { readonly line: string; readonly error: ApiError },
): void {
  const body = JSON.stringify(errorBody(error));
  connections.endAfterAnswers(
    socket,
    `HTTP/1.1 ${line}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
