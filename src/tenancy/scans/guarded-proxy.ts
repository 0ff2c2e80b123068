import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestHttp,
  type ServerResponse,
} from 'node:http';
import { connect } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import { type EgressPolicy, HostRefused, withoutBrackets } from '../../platform/net/reach.js';
import { type Faults, LIMITS, reasonOf } from './visit.js';

/** A proxy on loopback through which a browser reaches public addresses and nothing else. */
export interface GuardedProxy {
  readonly port: number;
  /** Returns whether the limit of bytes or requests was reached. */
  isExhausted(): boolean;
  /** Returns as readable text why the host was not reached, or undefined if it was reached or never requested. */
  failureOf(host: string): string | undefined;
  close(): Promise<void>;
}

/** Ports of public addresses. Networks that the operator lists may use any port. */
const WEB_PORTS: ReadonlySet<number> = new Set([80, 443]);

/**
 * The response headers that the browser gets: those that decide what a page loads, sets and may do. Hop-by-hop headers
 * are missing, because the proxy frames the response itself.
 */
const FORWARDED: ReadonlySet<string> = new Set([
  ...['accept-ranges', 'age', 'cache-control', 'content-disposition', 'content-encoding', 'content-language'],
  ...['content-location', 'content-range', 'content-type', 'date', 'etag', 'expires', 'last-modified', 'link'],
  ...['location', 'p3p', 'pragma', 'refresh', 'retry-after', 'set-cookie', 'sourcemap', 'vary', 'www-authenticate'],
  ...['accept-ch', 'critical-ch', 'origin-trial', 'service-worker-allowed', 'supports-loading-mode'],
  ...['access-control-allow-credentials', 'access-control-allow-headers', 'access-control-allow-methods'],
  ...['access-control-allow-origin', 'access-control-expose-headers', 'access-control-max-age'],
  ...['clear-site-data', 'content-security-policy', 'content-security-policy-report-only'],
  ...['cross-origin-embedder-policy', 'cross-origin-opener-policy', 'cross-origin-resource-policy'],
  ...['document-policy', 'feature-policy', 'origin-agent-cluster', 'permissions-policy', 'referrer-policy'],
  ...['timing-allow-origin', 'x-content-type-options', 'x-frame-options', 'x-xss-protection'],
]);

/** Returns whether a page may connect to a port of an address. */
export function portCheck(reach: EgressPolicy, port: number): (address: string) => boolean {
  return (address) => WEB_PORTS.has(port) || reach.isListed(address);
}

/**
 * Starts a proxy for one visit. A browser with this proxy resolves no names and opens no connections itself, so the
 * address of every connection is checked.
 */
export async function startGuardedProxy(reach: EgressPolicy, faults: Faults): Promise<GuardedProxy> {
  const open = new Set<Duplex>();
  const failures = new Map<string, string>();
  const note = (host: string, error: unknown): void => {
    if (failures.size < LIMITS.items) failures.set(host, reasonOf(error));
  };
  const passed = { bytes: 0, sentBytes: 0, requests: 0 };
  const isExhausted = (): boolean =>
    passed.bytes > LIMITS.bytes || passed.sentBytes > LIMITS.sentBytes || passed.requests > LIMITS.requests;
  const add = (kind: 'bytes' | 'sentBytes', bytes: number): void => {
    passed[kind] += bytes;
    if (isExhausted()) for (const socket of open) socket.destroy();
  };
  const hold = (socket: Duplex): void => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => open.delete(socket));
  };
  const context: Context = {
    reach,
    faults,
    note,
    add,
    hold,
    count: (source, kind) => source.on('data', (chunk: Buffer) => add(kind, chunk.length)),
  };
  const take = <T extends Duplex | ServerResponse>(
    serve: (context: Context, request: IncomingMessage, to: T, head: Buffer) => void,
  ) =>
    faults.guard(
      (request: IncomingMessage, to: T, head: Buffer) => {
        passed.requests += 1;
        // A status would be mistaken for a response of the page.
        if (isExhausted()) to.destroy();
        else serve(context, request, to, head);
      },
      (_error, _request, to) => to.destroy(),
    );

  const server = createServer();
  server.on('connection', hold);
  server.on('request', take<ServerResponse>(forward));
  server.on('connect', take<Duplex>(tunnel));
  server.on('upgrade', (_request, socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await new Promise((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', reject);
  });
  // The system may fail to accept a connection.
  server.on('error', () => faults.add());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    port: address.port,
    isExhausted,
    failureOf: (host) => failures.get(withoutBrackets(host)),
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

interface Context {
  readonly reach: EgressPolicy;
  readonly faults: Faults;
  readonly note: (host: string, error: unknown) => void;
  /** Counts bytes that were received or sent. */
  readonly add: (kind: 'bytes' | 'sentBytes', bytes: number) => void;
  readonly count: (source: NodeJS.ReadableStream, kind: 'bytes' | 'sentBytes') => void;
  readonly hold: (socket: Duplex) => void;
}

const REFUSED = 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';

/** Connects the browser with a host, for `CONNECT host:port`. */
function tunnel(
  { reach, faults, note, add, count, hold }: Context,
  request: IncomingMessage,
  client: Duplex,
  head: Buffer,
): void {
  const target = endpointOf(request.url ?? '');
  try {
    if (target === null) throw new HostRefused();
    const check = portCheck(reach, target.port);
    reach.refuseAddress(target.host, check);
    const remote = connect({ ...target, lookup: reach.lookup(check) });
    hold(remote);
    const end = (): void => {
      client.destroy();
      remote.destroy();
    };
    remote.once('error', (error) => note(target.host, error));
    remote.once(
      'connect',
      faults.guard(() => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        add('sentBytes', head.length);
        remote.write(head);
        count(remote, 'bytes');
        count(client, 'sentBytes');
        remote.pipe(client).pipe(remote);
      }, end),
    );
    remote.once('close', end);
    client.once('close', end);
  } catch (error) {
    if (target !== null) note(target.host, error);
    client.end(REFUSED);
  }
}

/** The host and port of `CONNECT host:port`, or null for anything else. */
function endpointOf(text: string): { readonly host: string; readonly port: number } | null {
  const port = Number(/:(\d{1,5})$/.exec(text)?.[1]);
  const url = `http://${text}`;
  if (!URL.canParse(url) || !(port > 0 && port < 65_536)) return null;
  // The normal form: an address can be written in many ways.
  return { host: withoutBrackets(new URL(url).hostname), port };
}

/** Forwards a request in plain HTTP, whose URL is absolute. */
function forward(
  { reach, faults, note, add, count }: Context,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const text = request.url ?? '';
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.protocol !== 'http:') {
    response.destroy();
    return;
  }
  const port = url.port === '' ? 80 : Number(url.port);
  const host = withoutBrackets(url.hostname);
  const fail = (error: unknown): void => {
    note(host, error);
    response.destroy();
  };
  const { 'proxy-connection': _, 'proxy-authorization': __, ...headers } = request.headers;
  try {
    const check = portCheck(reach, port);
    reach.refuseAddress(url.hostname, check);
    const sent = requestHttp({
      host,
      port,
      method: request.method,
      path: url.pathname + url.search,
      headers,
      lookup: reach.lookup(check),
      agent: false,
    });
    sent.on(
      'response',
      faults.guard((answer: IncomingMessage) => {
        add('bytes', sizeOf(answer));
        count(answer, 'bytes');
        response.writeHead(statusOf(answer), forwardedHeaders(answer));
        // A truncated response ends the connection, so that the browser does not wait for the rest.
        pipeline(answer, response, (error) => void (error && response.destroy()));
      }, fail),
    );
    sent.on('error', fail);
    // This includes responses that switch protocols, which nobody handles.
    sent.once('close', () => void (response.headersSent || response.destroy()));
    response.once('close', () => sent.destroy());
    add('sentBytes', sizeOf(request));
    count(request, 'sentBytes');
    request.pipe(sent);
  } catch (error) {
    fail(error);
  }
}

/** Number of bytes of the head of a message, without its first line. */
function sizeOf({ rawHeaders, url }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length + 2, url?.length ?? 0);
}

/** Returns the status of a response that may be forwarded. @throws Error for an invalid status */
function statusOf({ statusCode = 0 }: IncomingMessage): number {
  if (statusCode < 200 || statusCode > 599) throw new Error('the status is none of an answer');
  return statusCode;
}

function forwardedHeaders({ headers }: IncomingMessage): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => FORWARDED.has(name)));
}
