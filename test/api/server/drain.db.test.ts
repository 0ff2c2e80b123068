import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { createApp } from '../../../src/api/server/app.js';
import { Connections } from '../../../src/api/server/connections.js';
import { drainOnClose } from '../../../src/api/server/drain.js';
import { answerClientError } from '../../../src/api/server/error-response.js';
import { healthRoutes } from '../../../src/api/server/health.js';

const GRACE_MS = 1_500;
/** More than the buffers of a connection hold. */
const LARGE = 'x'.repeat(64 * 1024 * 1024);

interface Served {
  readonly app: FastifyInstance;
  readonly port: number;
  /** Lets the handler of /slow answer. */
  readonly release: () => void;
  /** Number of requests that were processed. */
  readonly processed: () => number;
  /** The server's side of each connection. */
  readonly sockets: readonly Socket[];
  /** Resolves when /slow, /large or /upload has begun to work. */
  readonly begun: Promise<void>;
}

const opened: { close(): void }[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

async function serve(lameDuckMs = 0, graceMs = GRACE_MS): Promise<Served> {
  const app = fastify({
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    bodyLimit: 10_000_000,
    // Nothing but the grace ends a connection.
    http: { headersTimeout: 0, requestTimeout: 0 },
    clientErrorHandler: (error, socket) => answerClientError(connections, error, socket),
  });
  const connections = new Connections(app.server);
  drainOnClose(app, connections, { lameDuckMs: () => lameDuckMs, graceMs });
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  let processed = 0;
  const sockets: Socket[] = [];
  app.server.on('connection', (socket) => sockets.push(socket));
  app.addHook('onRequest', (_request, _reply, done) => {
    begin();
    done();
  });
  app.addHook('preHandler', (_request, _reply, done) => {
    processed += 1;
    done();
  });
  app.get('/large', () => LARGE);
  app.get('/fast', () => ({ data: 'read' }));
  app.post('/upload', () => ({ data: 'taken' }));
  app.post('/slow', async () => {
    await released;
    return { data: 'accepted' };
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  opened.push({ close: () => void app.close() });
  return { app, port: portOf(app), processed: () => processed, sockets, release, begun };
}

function portOf(app: FastifyInstance): number {
  const [address] = app.addresses();
  if (address === undefined || typeof address === 'string') throw new Error('it does not listen on a port');
  return address.port;
}

/** A connection that has sent this, and reads only what the test reads. */
async function send(port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.pause();
  await once(socket, 'connect');
  socket.write(text);
  opened.push({ close: () => socket.destroy() });
  return socket;
}

async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks).toString('latin1');
}

/** Reads up to and including a text. */
async function readUntil(socket: Socket, end: string): Promise<string> {
  let text = '';
  socket.resume();
  while (!text.endsWith(end)) text += String((await once(socket, 'data'))[0]);
  socket.pause();
  return text;
}

/** A connection that has sent this, and never ends its own side. Resolves when it has read everything. */
async function halfOpen(port: number, text: string): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  opened.push({ close: () => socket.destroy() });
  await once(socket, 'connect');
  socket.write(text);
  socket.resume();
  await once(socket, 'end');
}

/**
 * Runs a test of the lame-duck time; again with a longer one, if it failed and did not end within
 * that time.
 */
async function inLameDuck(run: (lameDuckMs: number) => Promise<void>): Promise<void> {
  for (let lameDuckMs = 1_000; ; lameDuckMs *= 5) {
    const since = performance.now();
    try {
      return await run(lameDuckMs);
    } catch (error) {
      if (performance.now() - since < lameDuckMs) throw error;
    }
  }
}

const isStopping = (app: FastifyInstance) => expect.poll(() => app.isStopping()).toBe(true);
/** Waits until so many bytes came by the only connection. */
const received = (sockets: readonly Socket[], bytes: number) =>
  expect.poll(() => sockets.map(({ bytesRead }) => bytesRead)).toEqual([bytes]);

/** @returns milliseconds until the application was closed */
async function closing(app: FastifyInstance): Promise<number> {
  const startedAt = performance.now();
  await app.close();
  return performance.now() - startedAt;
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const post = (path: string, body: string, length = body.length): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;

describe('stopping', () => {
  it('waits for nobody longer than the grace who leaves an answer unread', async () => {
    const { app, port, begun } = await serve();
    await send(port, 'GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    await begun;
    expect(await closing(app)).toBeGreaterThanOrEqual(GRACE_MS - 100);
  });

  it('gives the whole of a large answer to who reads it within the grace', async () => {
    const { app, port, begun } = await serve(0, 60_000);
    const socket = await send(port, 'GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    await begun;
    const closed = app.close();
    await isStopping(app);
    const text = await readAll(socket);
    expect(text.length).toBeGreaterThan(LARGE.length);
    await closed;
  });

  it('finishes a POST that was taken, even beyond the grace, and gives its answer', async () => {
    const { app, port, release, processed, sockets } = await serve();
    await send(port, get('/large'));
    await expect.poll(processed).toBe(1);
    const unread = sockets.map((of) => once(of, 'close'));
    const socket = await send(port, post('/slow', '{}'));
    await expect.poll(processed).toBe(2);
    const closed = closing(app);
    // The grace is over when it ends the connection that leaves its answer unread.
    await Promise.all(unread);
    release();
    const text = await readAll(socket);
    expect(text).toMatch(/^HTTP\/1\.1 200 .*"accepted"\}$/s);
    expect(await closed).toBeGreaterThanOrEqual(GRACE_MS - 100);
  });

  it.each([
    ['the rest of a body', post('/upload', '{"a":', 1000)],
    ['the rest of a head', 'POST /upload HTTP/1.1\r\nHost: x\r\nContent-'],
  ])('waits no longer than the grace for %s', async (_what, text) => {
    const { app, port, sockets } = await serve();
    const socket = await send(port, text);
    await received(sockets, text.length);
    const ended = once(socket, 'close');
    socket.resume();
    await app.close();
    await ended;
  });

  it('does not wait for a connection that has said nothing', async () => {
    const { app, port, sockets } = await serve();
    const socket = await send(port, '');
    const ended = once(socket, 'close');
    socket.resume();
    await received(sockets, 0);
    await app.close();
    await ended;
  });

  it('still takes a body that comes within the grace', async () => {
    const { app, port, begun } = await serve(0, 60_000);
    const body = '{"a":1}';
    const socket = await send(port, post('/upload', body.slice(0, 3), body.length));
    await begun;
    const closed = app.close();
    await isStopping(app);
    socket.write(body.slice(3));
    expect(await readAll(socket)).toMatch(/"taken"\}$/);
    await closed;
  });

  it('answers new connections during the lame-duck time, and announces their close', () =>
    inLameDuck(async (lameDuckMs) => {
      const { app, port } = await serve(lameDuckMs);
      const kept = await send(port, get('/fast'));
      expect(await readUntil(kept, '"read"}')).toMatch(/Connection: keep-alive/i);
      const closed = app.close();
      await isStopping(app);
      const socket = await send(port, get('/fast'));
      expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 200 .*connection: close.*"read"\}$/is);
      kept.write(get('/fast'));
      expect(await readAll(kept)).toMatch(/^HTTP\/1\.1 200 .*connection: close.*"read"\}$/is);
      await closed;
    }));

  it('answers every request of a pipeline, and announces the close in the last response', async () => {
    const { app, port, release, begun } = await serve(0, 60_000);
    const socket = await send(port, post('/slow', '{}') + post('/slow', '{}') + get('/fast'));
    await begun;
    const closed = app.close();
    await isStopping(app);
    release();
    const responses = (await readAll(socket)).split(/(?=HTTP\/1\.1 )/);
    expect(responses.map((text) => [text.slice(9, 12), /connection: close/i.test(text)])).toEqual([
      ['200', false],
      ['200', false],
      ['200', true],
    ]);
    await closed;
  });

  it('does not process a request that comes after the announced close', async () => {
    let counted = (): number => 0;
    await inLameDuck(async (lameDuckMs) => {
      const { app, port, processed } = await serve(lameDuckMs);
      counted = processed;
      const closed = app.close();
      await isStopping(app);
      const socket = await send(port, get('/fast'));
      expect(await readUntil(socket, '"read"}')).toMatch(/connection: close/i);
      socket.write(post('/slow', '{}'));
      expect(await readAll(socket)).toBe('');
      await closed;
    });
    expect(counted()).toBe(1);
  });
});

describe('a process that stops', () => {
  it('is not ready, but alive, during the lame-duck time', () =>
    inLameDuck(async (lameDuckMs) => {
      const app = createApp(
        {
          log: pino({ level: 'silent' }),
          trustedProxies: [],
          drain: { lameDuckMs: () => lameDuckMs, graceMs: GRACE_MS },
        },
        [(scope) => healthRoutes(scope, { readiness: { reasons: async () => [] }, serving: 'callers' })],
      );
      const url = await app.listen({ host: '127.0.0.1', port: 0 });
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      const closed = app.close();
      await isStopping(app);
      const [ready, alive] = await Promise.all([fetch(`${url}/readyz`), fetch(`${url}/healthz`)]);
      expect([ready.status, alive.status]).toEqual([503, 200]);
      expect(await ready.json()).toMatchObject({ code: 'SERVICE_UNAVAILABLE', reasons: [{ code: 'stopping' }] });
      await closed;
    }));
});

describe('a connection with an invalid request', () => {
  it('gives the answer to the request before it, and then ends', async () => {
    const { app, port, release, sockets } = await serve();
    const text = `${post('/slow', '{}')}no HTTP\r\n\r\n`;
    const socket = await send(port, text);
    await received(sockets, text.length);
    socket.write('nor this');
    release();
    expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 200 .*connection: close.*"accepted"\}$/is);
    await app.close();
  });

  it('gets 400 for a request whose body is invalid, after the answers to those before it', async () => {
    const { app, port, release, begun } = await serve();
    const chunked =
      'POST /upload HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const socket = await send(port, `${post('/slow', '{}')}${chunked}no chunk\r\n`);
    await begun;
    release();
    expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 200 .*"accepted"\}HTTP\/1\.1 400 .*"BAD_REQUEST"/s);
    await app.close();
  });

  it.each([
    ['no HTTP', 'no HTTP\r\n\r\n'],
    ['an announced close', 'GET /fast HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
  ])('is destroyed soon after %s, although the client keeps its side open', async (_what, text) => {
    const { app, port } = await serve();
    const open = () => new Promise<number>((resolve) => app.server.getConnections((_error, count) => resolve(count)));
    await Promise.all(Array.from({ length: 20 }, () => halfOpen(port, text)));
    await expect.poll(open).toBe(0);
    await app.close();
  });
});
