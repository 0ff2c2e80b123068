import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createReach } from '../../../src/platform/net/reach.js';
import { startGuardedProxy } from '../../../src/tenancy/scans/guarded-proxy.js';
import { Faults, LIMITS } from '../../../src/tenancy/scans/visit.js';

/** Bytes that are on their way when the bound is reached. */
const MARGIN = 1_000_000;
const CHUNK = Buffer.alloc(100_000, 'x');

/** A server that takes everything, and sends as much as is taken once it has something. */
let server: Server;
let taken = 0;
let port = 0;
const open = new Set<Socket>();
beforeAll(async () => {
  server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      taken += chunk.length;
      if (String(chunk).includes('send')) pour(socket);
      // Without a bound, it would go on for ever.
      if (taken > 3 * LIMITS.sentBytes) socket.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterAll(async () => {
  for (const socket of open) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

/** Writes more than any bound, until the connection ends. */
function pour(socket: Socket): void {
  let written = 0;
  const more = (): void => {
    while (!socket.destroyed && written < 3 * LIMITS.bytes) {
      written += CHUNK.length;
      if (!socket.write(CHUNK)) return void socket.once('drain', more);
    }
    socket.destroy();
  };
  more();
}

/** Sends through a proxy. @returns the bytes that came back, when the connection has ended */
async function passThrough(head: string, isPouring: boolean): Promise<number> {
  const proxy = await startGuardedProxy(createReach(['127.0.0.1/32']), new Faults());
  const bytes = await new Promise<number>((resolve) => {
    let came = 0;
    const socket = connect(proxy.port, '127.0.0.1', () => {
      socket.write(head);
      if (isPouring) pour(socket);
    });
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      came += chunk.length;
    });
    socket.on('close', () => resolve(came));
  });
  expect(proxy.isExhausted()).toBe(true);
  await proxy.close();
  return bytes;
}

const tunnel = () => `CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n`;
const post = () => `POST http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n`;

it.each([
  ['a tunnel', tunnel],
  ['a request', post],
])('sends no more bytes by %s than its bound', async (_, head) => {
  taken = 0;
  await passThrough(head(), true);
  expect(taken).toBeGreaterThan(LIMITS.sentBytes - MARGIN);
  expect(taken).toBeLessThan(LIMITS.sentBytes + MARGIN);
});

it('takes no more bytes than its bound', async () => {
  const came = await passThrough(`${tunnel()}send`, false);
  expect(came).toBeGreaterThan(LIMITS.bytes - MARGIN);
  expect(came).toBeLessThan(LIMITS.bytes + MARGIN);
});

it('counts the heads of requests, too', async () => {
  const proxy = await startGuardedProxy(createReach(['127.0.0.1/32']), new Faults());
  const head = `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(15_000)}\r\n\r\n`;
  for (let n = 0; n < LIMITS.sentBytes / 15_000 + 1 && !proxy.isExhausted(); n += 1) {
    const socket = connect(proxy.port, '127.0.0.1', () => socket.write(head));
    const before = taken;
    await new Promise<void>((resolve) => {
      const look = setInterval(() => (taken > before || socket.destroyed) && resolve(clearInterval(look)), 1);
    });
    socket.destroy();
  }
  expect(proxy.isExhausted()).toBe(true);
  await proxy.close();
});
