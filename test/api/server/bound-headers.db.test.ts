import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApp, MAX_HEADER_LINES } from '../../../src/api/server/app.js';

let app: FastifyInstance;
let port: number;
beforeAll(async () => {
  app = createApp({ log: pino({ level: 'silent' }), trustedProxies: ['127.0.0.1'] }, [
    (scope) => void scope.get('/address', async ({ clientAddress }) => ({ clientAddress })),
  ]);
  await app.listen({ port: 0, host: '127.0.0.1' });
  const [address] = app.addresses();
  if (address === undefined || typeof address === 'string') throw new Error('it does not listen on a port');
  ({ port } = address);
});
afterAll(() => app?.close());

/** Sends a request as it passes through a proxy, which adds its line as the last one. */
async function askWith(lines: readonly string[], requestLine = 'GET /address HTTP/1.1'): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const sent = [requestLine, 'Host: a.example', 'Connection: close', ...lines];
  socket.end(`${sent.join('\r\n')}\r\nX-Forwarded-For: 198.51.100.7\r\n\r\n`);
  return text(socket);
}

/** Lines that a client adds, so that the request has a number of them altogether. */
const filled = (total: number): string[] => Array.from({ length: total - 3 }, (_, number) => `x-${number}: 1`);

it('sees the address that a proxy states in the last permitted line', async () => {
  const answer = await askWith(filled(MAX_HEADER_LINES));
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(answer).toContain('"clientAddress":"198.51.100.7"');
});

it.each([MAX_HEADER_LINES + 1, MAX_HEADER_LINES + 2, 1_000, 1_001, 1_500, 2_500])(
  'refuses a request with %d header lines, which could hide that of the proxy',
  async (total) => {
    const answer = await askWith(filled(total));
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toContain('"code":"HEADERS_TOO_LARGE"');
  },
);

it('refuses headers of more than 16 KiB with the same code', async () => {
  const answer = await askWith([`x-long: ${'x'.repeat(20_000)}`]);
  expect(answer).toMatch(/^HTTP\/1\.1 431 /);
  expect(answer).toContain('"code":"HEADERS_TOO_LARGE"');
});

it.each([
  ['a second Host line', ['HOST: b.example'], undefined],
  ['the same Host line twice', ['Host: a.example'], undefined],
  ['a request line without a version', [], 'GET /address'],
  ['a request line of HTTP/0.9', [], 'GET /address HTTP/0.9'],
])('refuses %s', async (_name, lines, requestLine) => {
  const answer = await askWith(lines, requestLine);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toContain('"code":"BAD_REQUEST"');
});
