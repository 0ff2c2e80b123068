import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The response of a handler. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** A listening server and its port. */
export interface Listening {
  readonly server: Server;
  readonly port: number;
}

const MAX_REQUEST_BYTES = 64 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Listens on a port, or on any free port if that one is unavailable.
 * @param handle called with method, path and body of each request; a rejection responds with 500
 */
export async function listen(
  host: string,
  wantedPort: number,
  handle: (method: string, path: string, body: Uint8Array) => Promise<Answer>,
): Promise<Listening> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    void serve(request, response, handle);
  });
  try {
    await bind(server, host, wantedPort);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (wantedPort === 0 || (code !== 'EADDRINUSE' && code !== 'EACCES')) throw error;
    await bind(server, host, 0);
  }
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return { server, port: address.port };
}

/** Stops the server and closes idle connections. */
export async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
    server.closeIdleConnections();
  });
}

function bind(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  handle: (method: string, path: string, body: Uint8Array) => Promise<Answer>,
): Promise<void> {
  try {
    const body = await readBody(request);
    const answer: Answer =
      body === undefined
        ? {
            status: 413,
            contentType: 'text/plain; charset=utf-8',
            body: new TextEncoder().encode('request too large\n'),
          }
        : await handle(request.method ?? '', new URL(request.url ?? '/', 'http://localhost').pathname, body);
    response.writeHead(answer.status, {
      'content-type': answer.contentType,
      'content-length': answer.body.length,
      'cache-control': 'no-store',
    });
    response.end(answer.body);
  } catch {
    // The client has disconnected or the handler failed; the response reveals no details.
    if (response.headersSent) response.destroy();
    else response.writeHead(500).end();
  }
}

async function readBody(request: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('a request body is made of bytes');
    size += chunk.length;
    if (size <= MAX_REQUEST_BYTES) chunks.push(chunk);
  }
  return size > MAX_REQUEST_BYTES ? undefined : new Uint8Array(Buffer.concat(chunks));
}
