import { randomUUID } from 'node:crypto';
import { type ClientRequest, type IncomingMessage, request as send } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import fastify, { type FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { TokensResponse } from '../../../schemas/api/auth.js';
import { BATCH_BODY_BYTES } from '../../../schemas/api/consent-limits.js';
import { BodyBudget, type BodyShare } from '../../../src/api/server/body-budget.js';
import { boundBodies } from '../../../src/api/server/bound-bodies.js';
import { Connections } from '../../../src/api/server/connections.js';
import { apiErrorOf, sendError } from '../../../src/api/server/error-response.js';
import { keepRawBodies } from '../../../src/api/server/json-body.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { postSigned } from '../../support/signed-requests.js';
import { type RunningApp, startApp } from './running-app.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const JSON_TYPE = { 'content-type': 'application/json' };

/** Begins a request, sends what is given of its body, and no more. */
function begin(url: string, headers: Record<string, string | number>, sent: string | Buffer = '['): ClientRequest {
  const started = send(url, { method: 'POST', headers: { ...JSON_TYPE, ...headers } });
  started.on('error', () => undefined);
  started.write(sent);
  return started;
}

async function answerOf(request: ClientRequest): Promise<{ status: number | undefined; body: unknown }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
  });
  return { status: response.statusCode, body: JSON.parse(await text(response)) };
}

/** A budget that tells how much has arrived. */
class WatchedBudget extends BodyBudget {
  arrived = 0;

  override begin(owner: string, announced: number): BodyShare | null {
    const share = super.begin(owner, announced);
    if (share === null) return null;
    const take = (bytes: number): boolean => {
      const isTaken = share.take(bytes);
      if (isTaken) this.arrived += bytes;
      return isTaken;
    };
    return { take, release: share.release };
  }
}

describe('large bodies', () => {
  let app: FastifyInstance | undefined;
  let budget: WatchedBudget;
  afterEach(() => app?.close());

  async function start(requestTimeout = 0): Promise<string> {
    app = fastify({
      bodyLimit: 4 * MIB,
      forceCloseConnections: true,
      requestTimeout,
      http: { connectionsCheckingInterval: 100, headersTimeout: requestTimeout },
    });
    app.decorateRequest('caller', null);
    app.decorateRequest('panelUser', null);
    app.addHook('onRequest', async (request) => {
      const tenantId = String(request.headers['x-tenant'] ?? 'one');
      request.panelUser = { id: randomUUID(), tenantId, email: 'a@b.example', role: 'owner', signInId: randomUUID() };
    });
    new Connections(app.server);
    budget = new WatchedBudget(5 * MIB);
    boundBodies(app, budget);
    keepRawBodies(app);
    app.setErrorHandler((error, _request, reply) => {
      const told = error instanceof Error ? apiErrorOf(error) : null;
      if (told === null) throw error;
      return sendError(reply, told);
    });
    app.get('/never', () => new Promise(() => undefined));
    app.post('/', (request, reply) => {
      reply.send({ bytes: request.rawBody.length });
    });
    return app.listen({ port: 0, host: '127.0.0.1' });
  }

  async function post(url: string, bytes: number, tenant = 'other'): Promise<number> {
    const body = Buffer.alloc(bytes, 0x20);
    const answer = await fetch(url, { method: 'POST', headers: { ...JSON_TYPE, 'x-tenant': tenant }, body });
    if (answer.status === 200) expect(await answer.json()).toEqual({ bytes });
    return answer.status;
  }

  /** Begins a body of 2.5 MiB and more, which leaves no room for 3 MiB, and waits until that much of it has come. */
  async function holding<T>(start: () => T): Promise<T> {
    const waiting = start();
    await expect.poll(() => budget.arrived).toBe(2.5 * MIB);
    return waiting;
  }

  test.each([
    ['of a stated length', { 'content-length': 3 * MIB }],
    ['of no stated length', { 'transfer-encoding': 'chunked' }],
  ])('on their way, %s, take what came of them, and leave a share to others', async (_, headers) => {
    const url = await start();
    const waiting = await holding(() => begin(url, headers, Buffer.alloc(2.5 * MIB, 0x20)));
    expect(await post(url, 3 * MIB)).toBe(503);
    expect(await post(url, 1200 * KIB)).toBe(200);
    expect(await post(url, MIB, 'one')).toBe(503);
    expect(await post(url, 1000, 'one')).toBe(200);

    const closed = new Promise((resolve) => waiting.once('close', resolve));
    waiting.destroy();
    await closed;
    await expect.poll(() => post(url, 3 * MIB)).toBe(200);
    expect(await post(url, 3 * MIB)).toBe(200);
  });

  test('behind a request that is not answered leave their room when the connection is lost', async () => {
    const url = await start();
    const head = ['POST / HTTP/1.1', 'Host: a', 'Content-Type: application/json', `Content-Length: ${3 * MIB}`];
    const socket = await holding(() => {
      const started = connect(Number(new URL(url).port), '127.0.0.1');
      started.write(`GET /never HTTP/1.1\r\nHost: a\r\n\r\n${head.join('\r\n')}\r\n\r\n`);
      started.write(Buffer.alloc(2.5 * MIB, 0x20));
      return started;
    });
    expect(await post(url, 3 * MIB)).toBe(503);
    socket.destroy();
    await expect.poll(() => post(url, 3 * MIB)).toBe(200);
  });

  test('are whole when they come without a length', async () => {
    const url = await start();
    const request = begin(url, {}, Buffer.alloc(2 * MIB, 0x20));
    request.end(Buffer.alloc(MIB, 0x20));
    expect(await answerOf(request)).toEqual({ status: 200, body: { bytes: 3 * MIB } });
  });

  test('that stop coming are cut, and their room is free again', async () => {
    const url = await start(1_000);
    const stalled = begin(url, { 'content-length': 3 * MIB }, Buffer.alloc(MIB, 0x20));
    expect(await answerOf(stalled)).toMatchObject({ status: 408 });
    await expect.poll(() => post(url, 3 * MIB, 'one')).toBe(200);
  });

  test('of another media type are refused, and the connection serves on', async () => {
    const url = await start();
    const headers = { 'content-type': 'text/plain' };
    for (let i = 0; i < 3; i += 1) {
      const answer = await fetch(url, { method: 'POST', headers, body: Buffer.alloc(2 * MIB, 0x20) });
      expect(answer.status).toBe(415);
      await answer.arrayBuffer();
    }
    expect(await post(url, 3 * MIB, 'one')).toBe(200);
  });
});

describe('a browser’s public key', () => {
  let app: RunningApp;
  let attacked: SeededDemo;
  let other: SeededDemo;
  beforeAll(async () => {
    app = await startApp('api', { BATCH_BODY_MAX_BYTES: String(BATCH_BODY_BYTES) });
    [attacked, other] = [await app.seed(), await app.seed()];
  });
  afterAll(() => app.stop());

  const BATCH = '/tool/v1/consents/batch';
  const POSTS = [
    '/tool/v1/consents',
    BATCH,
    '/tool/v1/s2s/consents',
    '/tool/v1/s2s/consents/batch',
    '/tool/v1/s2s/approval-tokens',
    '/tool/v1/s2s/erasures',
    '/tool/v1/s2s/evidence-exports',
  ];
  const looksSigned = () => ({
    'x-signature': '0'.repeat(64),
    'x-timestamp': Math.floor(Date.now() / 1000),
    'x-nonce': randomUUID(),
  });

  test('takes no room of other tenants by announcing large bodies', async () => {
    const stalled = [BATCH_BODY_BYTES, 100_000_000, 60_000_000, 8_000_000].map((bytes) =>
      begin(app.url + BATCH, { 'x-api-key': attacked.keys.write, ...looksSigned(), 'content-length': bytes }),
    );
    try {
      // Until they are there: the limit of their plan has counted them.
      await expect.poll(async () => (await app.superuser.query('select from rate_limit_windows')).rowCount).toBe(1);
      const document = other.documents.find(({ kind }) => kind === 'cookie_policy');
      const version = document?.versions.find(({ state }) => state === 'active');
      const consent = {
        consent_type: 'cookie',
        decision: 'accepted',
        document_version_id: version?.id,
        language: version?.language,
        metadata: { text: 'x'.repeat(9_000) },
      };
      const consents = Array.from({ length: 100 }, () => consent);
      const answer = await postSigned(app.url, other.keys.write, BATCH, { consents });
      expect([answer.status, await answer.text()]).toEqual([202, expect.stringContaining('"rejected":0')]);
    } finally {
      for (const request of stalled) request.destroy();
    }
  });

  test.each(POSTS)('without a signature does not have a body of %s read', async (path) => {
    const login = await fetch(`${app.url}/api/v1/auth/login`, {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify(attacked.api_user),
    });
    const { data } = TokensResponse.parse(await login.json());
    const known = {
      'x-api-key': attacked.keys.write,
      authorization: `Bearer ${data.access_token}`,
      'content-length': 4_000,
    };
    for (const [headers, code] of [
      [{}, 'MISSING_SIGNATURE_HEADERS'],
      [{ ...looksSigned(), 'x-timestamp': 'now' }, 'TIMESTAMP_EXPIRED'],
      [{ ...looksSigned(), 'x-nonce': 'short' }, 'INVALID_NONCE'],
    ] as const) {
      const request = begin(app.url + path, { ...known, ...headers });
      expect(await answerOf(request)).toMatchObject({ status: 401, body: { code } });
      request.destroy();
    }
    const typed = begin(app.url + path, { ...known, 'content-type': 'text/plain' });
    expect(await answerOf(typed)).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } });
    typed.destroy();
  });
});
