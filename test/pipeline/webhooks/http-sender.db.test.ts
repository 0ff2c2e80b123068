import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createRawServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createWebhookSender } from '../../../src/pipeline/webhooks/http-sender.js';

let server: Server;
let port = 0;
let asked = 0;
beforeAll(async () => {
  server = createServer((request, response) => {
    asked += 1;
    if (request.url === '/redirect') response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end();
    else if (request.url === '/silent') return;
    else if (request.url === '/reset') request.socket.destroy();
    else response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const never = new AbortController().signal;
const sender = (...allowedNetworks: readonly string[]) =>
  createWebhookSender({ allowedNetworks, userAgent: 'test', onCaught: () => undefined });

it.each([
  '127.0.0.1',
  'localhost',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '0.0.0.0',
  '2130706433',
  '0x7f.1',
  '10.0.0.1',
  '169.254.169.254',
  '192.168.1.1',
  '[fd00::1]',
  '[fe80::1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::a9fe:a9fe]',
  '[2002:7f00:1::]',
])('never connects to %s', async (host) => {
  asked = 0;
  for (const scheme of ['http', 'https']) {
    const outcome = await sender()(`${scheme}://${host}:${port}/`, {}, '{}', never);
    expect(outcome).toMatchObject({ isDelivered: false, reason: expect.stringMatching(/^the host has no/) });
  }
  expect(asked).toBe(0);
});

it('reaches a private network that the operator lists, and no other one', async () => {
  const send = sender('127.0.0.1/32');
  expect(await send(`http://127.0.0.1:${port}/`, {}, '{}', never)).toEqual({ isDelivered: true });
  expect(await send(`http://127.0.0.2:${port}/`, {}, '{}', never)).toMatchObject({ isDelivered: false });
});

it('sends nothing in the clear to a public address', async () => {
  expect(await sender('127.0.0.1/32')('http://192.31.196.1/', {}, '{}', never)).toMatchObject({
    reason: 'the URL is not https',
  });
});

it('follows no redirect', async () => {
  asked = 0;
  const outcome = await sender('127.0.0.0/8')(`http://127.0.0.1:${port}/redirect`, {}, '{}', never);
  expect(outcome).toEqual({ isDelivered: false, isGone: false, reason: 'the receiver answered 302' });
  expect(asked).toBe(1);
});

it('stops waiting when the process stops', async () => {
  const stopping = new AbortController();
  const sending = sender('127.0.0.0/8')(`http://127.0.0.1:${port}/silent`, {}, '{}', stopping.signal);
  await once(server, 'request');
  stopping.abort();
  expect(await sending).toMatchObject({ isDelivered: false });
});

it('settles when the receiver switches protocols, or closes the connection', async () => {
  const send = sender('127.0.0.0/8');
  // A raw server: Node's own answers an upgrade only if it was asked for one.
  const raw = createRawServer((socket) => {
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
    );
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => raw.once('listening', resolve));
  const address = raw.address();
  const rawPort = typeof address === 'object' && address !== null ? address.port : 0;
  try {
    expect(await send(`http://127.0.0.1:${rawPort}/`, {}, '{}', never)).toMatchObject({
      isDelivered: false,
      reason: 'the receiver answered 101',
    });
  } finally {
    raw.close();
  }
  expect(await send(`http://127.0.0.1:${port}/reset`, {}, '{}', never)).toMatchObject({ isDelivered: false });
});

it('tells a name that does not exist from a private one by nothing', async () => {
  const unknown = await sender()('https://no-such-host.invalid/', {}, '{}', never);
  expect(unknown).toEqual(await sender()('https://localhost/', {}, '{}', never));
});
