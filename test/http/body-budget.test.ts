import { type ClientRequest, request as send } from 'node:http';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { boundBodies } from '../../src/http/body-budget.js';
import { apiErrorOf, sendError } from '../../src/http/error-response.js';
import { keepRawBodies } from '../../src/http/json-body.js';

const MIB = 1024 * 1024;
let app: FastifyInstance | undefined;
afterEach(() => app?.close());

async function start(): Promise<string> {
  app = fastify({ bodyLimit: 4 * MIB });
  boundBodies(app, 5 * MIB);
  keepRawBodies(app);
  app.setErrorHandler((error, _request, reply) => {
    const told = error instanceof Error ? apiErrorOf(error) : null;
    if (told === null) throw error;
    return sendError(reply, told);
  });
  app.post('/', (request, reply) => {
    reply.send({ bytes: request.rawBody.length });
  });
  return app.listen({ port: 0, host: '127.0.0.1' });
}

function begin(url: string, headers: Record<string, string | number>): ClientRequest {
  const started = send(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } });
  started.on('error', () => undefined);
  started.write('[');
  return started;
}

async function post(url: string, bytes: number): Promise<number> {
  const body = Buffer.alloc(bytes, 0x20);
  return (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).status;
}

test.each([
  ['of a stated length', { 'content-length': 3 * MIB }],
  ['of no stated length, which may reach the limit', { 'transfer-encoding': 'chunked' }],
])('while one large body %s is on its way, another is told to come later, and small ones pass', async (_, headers) => {
  const url = await start();
  const waiting = begin(url, headers);
  await expect.poll(() => post(url, 3 * MIB)).toBe(503);
  expect(await post(url, 1000)).toBe(200);

  const closed = new Promise((resolve) => waiting.once('close', resolve));
  waiting.destroy();
  await closed;
  await expect.poll(() => post(url, 3 * MIB)).toBe(200);
  expect(await post(url, 3 * MIB)).toBe(200);
});
