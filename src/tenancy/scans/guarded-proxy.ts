import { createServer, type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { HostRefused, type Reach } from '../../platform/net/reach.js';
import { LIMITS } from './limits.js';
import { reasonOf } from './unreachable.js';

/** A proxy on loopback through which a browser reaches public addresses and nothing else. */
export interface GuardedProxy {
  readonly port: number;
  /** Whether the bound of bytes or requests was reached. */
  isExhausted(): boolean;
  /** Why the host was not reached, in words; undefined if it was, or was not asked for. */
  failureOf(host: string): string | undefined;
  close(): Promise<void>;
}

/** Ports of public addresses. Networks that the operator lists may use any port. */
const WEB_PORTS: ReadonlySet<number> = new Set([80, 443]);

/** Returns whether a page may connect to a port of an address. */
export function portCheck(reach: Reach, port: number): (address: string) => boolean {
  return (address) => WEB_PORTS.has(port) || reach.isListed(address);
}

/**
 * Starts a proxy for one visit. A browser with this proxy resolves no name and opens no connection
 * by itself, so that every connection passes the check of the address that is connected to.
 */
export async function startGuardedProxy(reach: Reach): Promise<GuardedProxy> {
  const open = new Set<Duplex>();
  const failures = new Map<string, string>();
  const note = (host: string, error: unknown): void => {
    if (failures.size < LIMITS.items) failures.set(host, reasonOf(error));
  };
  let bytes = 0;
  let requests = 0;
  const isExhausted = (): boolean => bytes > LIMITS.bytes || requests > LIMITS.requests;
  const hold = (socket: Duplex): void => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => open.delete(socket));
  };
  const count = (source: NodeJS.ReadableStream): void => {
    source.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (isExhausted()) for (const socket of open) socket.destroy();
    });
  };

  const server = createServer((request, response) => {
    requests += 1;
    if (isExhausted()) refuse(response);
    else forward(reach, request, response, { count, note });
  });
  server.on('connection', hold);
  server.on('connect', (request: IncomingMessage, client: Socket, head: Buffer) => {
    requests += 1;
    const target = isExhausted() ? null : endpointOf(request.url ?? '');
    try {
      if (target === null) throw new HostRefused();
      const check = portCheck(reach, target.port);
      reach.refuseAddress(target.host, check);
      const remote = connect({ ...target, lookup: reach.lookup(check) });
      hold(remote);
      remote.once('error', (error) => note(target.host, error));
      const end = (): void => {
        client.destroy();
        remote.destroy();
      };
      remote.once('connect', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        remote.write(head);
        count(remote);
        remote.pipe(client).pipe(remote);
      });
      remote.once('close', end);
      client.once('close', end);
    } catch (error) {
      if (target !== null) note(target.host, error);
      client.end(REFUSED);
    }
  });
  server.on('upgrade', (_request: IncomingMessage, socket: Duplex) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await new Promise((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', reject);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    port: address.port,
    isExhausted,
    failureOf: (host) => failures.get(host.replace(/^\[|\]$/g, '')),
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

const REFUSED = 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';

/** Ends the connection: a status would be taken for an answer of the page. */
function refuse(response: ServerResponse): void {
  response.destroy();
}

/** The host and port of `CONNECT host:port`; null for anything else. */
function endpointOf(text: string): { readonly host: string; readonly port: number } | null {
  const port = Number(/:(\d{1,5})$/.exec(text)?.[1]);
  const url = `http://${text}`;
  if (!URL.canParse(url) || !(port > 0 && port < 65_536)) return null;
  // The normal form: an address can be written in many ways.
  return { host: new URL(url).hostname.replace(/^\[|\]$/g, ''), port };
}

interface Forwarding {
  readonly count: (source: NodeJS.ReadableStream) => void;
  readonly note: (host: string, error: unknown) => void;
}

/** Forwards a request in plain HTTP, whose URL is absolute. */
function forward(reach: Reach, request: IncomingMessage, response: ServerResponse, { count, note }: Forwarding): void {
  const text = request.url ?? '';
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.protocol !== 'http:') {
    refuse(response);
    return;
  }
  const port = url.port === '' ? 80 : Number(url.port);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const fail = (error: unknown): void => {
    note(host, error);
    refuse(response);
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
    sent.on('response', (answer) => {
      count(answer);
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    sent.on('error', fail);
    response.once('close', () => sent.destroy());
    request.pipe(sent);
  } catch (error) {
    fail(error);
  }
}
