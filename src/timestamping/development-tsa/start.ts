import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DEVELOPMENT_MARK } from '../../../schemas/rfc3161/development-mark.js';
import { issueCrl } from './certificates.js';
import { type Identity, loadIdentity, settleIdentity, writeRootPem } from './identity.js';
import { answerRequest } from './responder.js';

/** Path of the revocation list in the authority's certificate. */
const CRL_PATH = '/development-tsa.crl';

/** A running development authority. */
export interface DevelopmentTsa {
  /** URL for time stamp requests (POST). */
  readonly url: string;
  /** PEM file with the root certificate of its tokens. */
  readonly rootCertificatePemPath: string;
  readonly port: number;
  /** Completes the requests in progress, then stops. */
  stop(): Promise<void>;
}

/**
 * Starts a time stamp authority for development: a complete RFC 3161 responder over HTTP. Each of its certificates
 * states that its tokens are not evidence.
 *
 * The first start creates the keys and stores them in the folder (mode 0600). The port is also stored, because the
 * certificate names it in the URL of the revocation list. If the port is unavailable at a later start, the authority
 * uses another one, with a new certificate. Earlier tokens remain valid, because the root is the same.
 *
 * @param options.folder folder of keys, port and `development-tsa-root.pem`; created if missing
 * @param options.host address to listen on; the default is 127.0.0.1
 * @param options.port port of the first start; the default is any free port
 * @param options.organization organization of the root certificate that the first start creates, at
 *   most 64 characters; the default is none. Authorities of one organization count as one.
 * @throws Error if the stored identity is unreadable, or no port is available
 */
export async function startDevelopmentTsa(options: {
  readonly folder: string;
  readonly host?: string;
  readonly port?: number;
  readonly organization?: string;
}): Promise<DevelopmentTsa> {
  const { folder, host = '127.0.0.1', organization = null } = options;
  const kept = await loadIdentity(folder);
  let identity: Identity | undefined;
  const { server, port } = await listen(host, options.port ?? kept?.port ?? 0, async (method, path, body) =>
    identity === undefined ? text(503, 'starting') : handle(identity, method, path, body),
  );
  try {
    const base = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
    identity = await settleIdentity(folder, kept, `${base}${CRL_PATH}`, port, organization, new Date());
    const rootCertificatePemPath = await writeRootPem(folder, identity);
    return { url: `${base}/`, rootCertificatePemPath, port, stop: () => close(server) };
  } catch (error) {
    await close(server);
    throw error;
  }
}

async function handle(identity: Identity, method: string, path: string, body: Uint8Array): Promise<Answer> {
  const now = new Date();
  if (path === CRL_PATH) {
    if (method !== 'GET') return text(405, 'the revocation list is read with GET');
    const crl = await issueCrl(identity.root, identity.rootKeys, now);
    return { status: 200, contentType: 'application/pkix-crl', body: crl };
  }
  if (path !== '/') return text(404, 'not found');
  if (method !== 'POST') return text(405, 'send time stamp requests (RFC 3161) with POST');
  return { status: 200, contentType: 'application/timestamp-reply', body: await answerRequest(body, identity, now) };
}

function text(status: number, message: string): Answer {
  const body = new TextEncoder().encode(`${message}\n${DEVELOPMENT_MARK}\n`);
  return { status, contentType: 'text/plain; charset=utf-8', body };
}

/** The response of a handler. */
interface Answer {
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
async function listen(
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
async function close(server: Server): Promise<void> {
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
