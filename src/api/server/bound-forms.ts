import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import type { Connections } from './connections.js';
import { endWithError } from './error-response.js';

/** An absolute request target (RFC 9112 §3.2.2): its authority, and path and query. */
const ABSOLUTE = /^https?:\/\/([^/?#]*)([^#]*)/i;

/**
 * Returns the path and query of a request target. The absolute form is accepted if its host equals `Host`; otherwise
 * `boundForms` refuses it, because proxies may go by either.
 */
export function originForm({ url = '', headers: { host } }: IncomingMessage): string {
  const [, authority, rest = ''] = ABSOLUTE.exec(url) ?? [];
  if (authority === undefined || authority.toLowerCase() !== host?.toLowerCase()) return url;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/**
 * Refuses forms of HTTP/1.1 that the service does not use, and closes the connection, because a proxy may interpret the
 * bytes that follow differently: no `Host` (RFC 9112 §3.2), an expectation other than `100-continue` (RFC 9110
 * §10.1.1), a transfer coding other than `chunked` alone (RFC 9112 §6.1), the absolute form with another host, and
 * CONNECT. Left to itself, Node would answer some of them without a body and accept others.
 */
export function boundForms(app: FastifyInstance, connections: Connections): void {
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.server.on('connect', ({ socket }) => {
    // Node no longer handles errors of this connection, and an unhandled one would end the process.
    socket.on('error', () => socket.destroy()).resume();
    endWithError(connections, socket, {
      line: '400 Bad Request',
      error: new ApiError('BAD_REQUEST', 'The service is not a proxy: it does not support CONNECT.'),
    });
  });
  app.addHook('onRequest', async ({ raw }, reply) => {
    const reason = refusedForm(raw, reply, connections);
    if (reason !== null) throw new ApiError('BAD_REQUEST', reason);
  });
}

/**
 * Checks the form of a request, and makes its connection close after the response if the form is refused. @returns the
 * reason, or null if the form is accepted
 */
export function refusedForm(raw: IncomingMessage, reply: FastifyReply, connections: Connections): string | null {
  const reason = reasonToRefuse(raw);
  if (reason === null) return null;
  // Only the last response may announce the close: responses to pipelined requests after it would be lost.
  if (connections.announceClose(raw)) reply.header('connection', 'close');
  else reply.raw.once('close', () => connections.endAfterAnswers(raw.socket, ''));
  return reason;
}

function reasonToRefuse({ url = '', headers, httpVersion }: IncomingMessage): string | null {
  const { host, expect, 'transfer-encoding': coding } = headers;
  if (host === undefined && httpVersion === '1.1') return 'The header Host is missing.';
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    return 'The Expect header must be 100-continue or absent.';
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion !== '1.1'))
    return 'The Transfer-Encoding header must be chunked, with no other coding, and of HTTP/1.1.';
  if (ABSOLUTE.test(url)) return 'The host in the request target differs from the Host header.';
  return null;
}
