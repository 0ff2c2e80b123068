import type { Socket } from 'node:net';
import { ApiError, type ErrorCode } from '../../../schemas/api/error-codes.js';
import type { Connections } from './connections.js';
import { errorBody } from './error-response.js';

const REASONS: Readonly<Record<string, { readonly line: string; readonly code: ErrorCode }>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { line: '408 Request Timeout', code: 'REQUEST_TIMEOUT' },
  HPE_HEADER_OVERFLOW: { line: '431 Request Header Fields Too Large', code: 'HEADERS_TOO_LARGE' },
};
const OTHERWISE = { line: '400 Bad Request', code: 'BAD_REQUEST' } as const;

/**
 * Ends a connection on which a request is malformed or late. The usual error body is sent for that
 * request. If complete requests on the connection are in progress, they are answered and nothing
 * else is sent: a client would take the error for the response to a consent that was recorded.
 */
export function answerClientError(connections: Connections, error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const { line, code } = REASONS[error.code ?? ''] ?? OTHERWISE;
  endWithError(connections, socket, { line, error: new ApiError(code) });
}

/** The same with an error of the caller. @param line status and reason of the status line */
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
