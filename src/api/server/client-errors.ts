import type { Socket } from 'node:net';
import { ApiError, type ErrorCode } from '../../../schemas/api/error-codes.js';
import { errorBody } from './error-response.js';

const REASONS: Readonly<Record<string, { readonly line: string; readonly code: ErrorCode }>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { line: '408 Request Timeout', code: 'REQUEST_TIMEOUT' },
};
const OTHERWISE = { line: '400 Bad Request', code: 'BAD_REQUEST' } as const;

/** Sends the usual error body for malformed or late HTTP requests. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const { line, code } = REASONS[error.code ?? ''] ?? OTHERWISE;
  const body = JSON.stringify(errorBody(new ApiError(code)));
  if (socket.writable) {
    socket.end(
      `HTTP/1.1 ${line}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  } else {
    socket.destroy();
  }
}
