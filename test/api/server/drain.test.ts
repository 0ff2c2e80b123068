import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { drainOnClose } from '../../../src/api/server/drain.js';

const GRACE_MS = 1_500;
/** More than the buffers of a connection hold. */
const LARGE = 'x'.repeat(64 * 1024 * 1024);

interface Served {
  readonly app: FastifyInstance;
  readonly port: number;
  /** Lets the handler of /slow answer. */
  readonly release: () => void;
  /** Resolves when /slow, /large or /upload has begun to work. */
  readonly begun: Promise<void>;
}

const opened: { close(): void }[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

async function serve(): Promise<Served> {
  const app = fastify({ forceCloseConnections: 'idle', return503OnClosing: false, bodyLimit: 10_000_000 });
  drainOnClose(app, GRACE_MS);
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  app.addHook('onRequest', (_request, _reply, done) => {
    begin();
    done();
  });
  app.get('/large', () => LARGE);
  app.post('/upload', () => ({ data: 'taken' }));
  app.post('/slow', async () => {
    await released;
    return { data: 'accepted' };
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  opened.push({ close: () => void app.close() });
  return { app, port: portOf(app), release, begun };
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

/** @returns milliseconds until the application was closed */
async function closing(app: FastifyInstance): Promise<number> {
  const startedAt = performance.now();
  await app.close();
  return performance.now() - startedAt;
}

const post = (path: string, body: string, length = body.length): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;

describe('stopping', () => {
  it('waits for nobody longer than the grace who leaves an answer unread', async () => {
    const { app, port, begun } = await serve();
    await send(port, 'GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    await begun;
    const ms = await closing(app);
    expect(ms).toBeGreaterThanOrEqual(GRACE_MS - 100);
    expect(ms).toBeLessThan(20_000);
  });

  it('gives the whole of a large answer to who reads it within the grace', async () => {
    const { app, port, begun } = await serve();
    const socket = await send(port, 'GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    await begun;
    const closed = app.close();
    await sleep(200);
    const text = await readAll(socket);
    expect(text.length).toBeGreaterThan(LARGE.length);
    await closed;
  });

  it('finishes a POST that was taken, even beyond the grace, and gives its answer', async () => {
    const { app, port, release, begun } = await serve();
    const socket = await send(port, post('/slow', '{}'));
    await begun;
    const closed = closing(app);
    await sleep(GRACE_MS * 2);
    release();
    const text = await readAll(socket);
    expect(text).toMatch(/^HTTP\/1\.1 200 .*"accepted"\}$/s);
    expect(await closed).toBeGreaterThanOrEqual(GRACE_MS * 2 - 100);
  });

  it.each([
    ['the rest of a body', post('/upload', '{"a":', 1000), true],
    ['the rest of a head', 'POST /upload HTTP/1.1\r\nHost: x\r\nContent-', false],
  ])('waits no longer than the grace for %s', async (_what, text, isRequest) => {
    const { app, port, begun } = await serve();
    const socket = await send(port, text);
    await (isRequest ? begun : sleep(200));
    const ended = once(socket, 'close');
    socket.resume();
    expect(await closing(app)).toBeLessThan(20_000);
    await ended;
  });

  it('does not wait for a connection that has said nothing', async () => {
    const { app, port } = await serve();
    const socket = await send(port, '');
    const ended = once(socket, 'close');
    socket.resume();
    await sleep(200);
    await app.close();
    await ended;
  });

  it('still takes a body that comes within the grace', async () => {
    const { app, port, begun } = await serve();
    const body = '{"a":1}';
    const socket = await send(port, post('/upload', body.slice(0, 3), body.length));
    await begun;
    const closed = app.close();
    await sleep(GRACE_MS / 3);
    socket.write(body.slice(3));
    expect(await readAll(socket)).toMatch(/"taken"\}$/);
    await closed;
  });
});
