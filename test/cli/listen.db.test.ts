import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyWebhook } from '../../sdk/node/src/webhooks.js';
import { forwardTestEvents } from '../../src/cli/listen.js';
import type { SeededDemo } from '../../src/demo/seed/seed-demo.js';
import { createApiKey } from '../../src/tenancy/api-keys/api-keys.js';
import { newWebhookSecret } from '../../src/tenancy/webhooks/webhooks.js';
import { type RunningApp, startApp } from '../api/server/running-app.js';
import { postSigned } from '../support/signed-requests.js';
import { commandLine } from './command-line.js';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server on this machine that answers each request with the next of its answers, or the last one. */
interface Answering {
  readonly url: URL;
  readonly received: Received[];
  close(): void;
}
type Reply = readonly [status: number, body?: string, headers?: Record<string, string>];

async function answering(...replies: readonly Reply[]): Promise<Answering> {
  const received: Received[] = [];
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = await request.toArray();
    const [status, body = '', headers = {}] = replies[Math.min(received.length, replies.length - 1)] ?? [200];
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    response.writeHead(status, { connection: 'close', ...headers }).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = new URL(`http://localhost:${typeof address === 'object' ? address?.port : 0}/hook`);
  return { url, received, close: () => void server.close() };
}

/** `listen` with a service and a receiver; its pauses end with `turn`. */
async function listening(service: URL, apiKey: string, forwardTo: URL) {
  const lines: string[] = [];
  const pauses: number[] = [];
  const secret = newWebhookSecret();
  const stop = new AbortController();
  const events = new EventEmitter();
  let go = (): void => undefined;
  const running = forwardTestEvents({
    service,
    apiKey,
    forwardTo,
    secret,
    signal: stop.signal,
    write: (line: string) => lines.push(line),
    clock: Date.now,
    pause: (ms) =>
      new Promise((resolve) => {
        pauses.push(ms);
        go = resolve;
        events.emit('paused');
      }),
  });
  const pausedOr = (action: () => void): Promise<unknown> => {
    const paused = once(events, 'paused');
    action();
    return Promise.race([paused, running]);
  };
  await pausedOr(() => undefined);
  return {
    lines,
    pauses,
    secret,
    /** Lets it ask the service once. */
    turn: () => pausedOr(go),
    end: async () => {
      stop.abort();
      go();
      await running;
    },
  };
}

describe('consent-ledger listen', () => {
  let app: RunningApp;
  let demo: SeededDemo;
  let key: string;
  beforeAll(async () => {
    app = await startApp('api');
    demo = await app.seed();
    const options = { mode: 'test', restriction: 'secret' } as const;
    key = (await createApiKey(app.service.installation.adminPool, demo.site.id, 'write', options)).key;
  });
  afterAll(() => app.stop());

  const record = async (decision = 'accepted'): Promise<void> => {
    const { versions } = demo.documents.find(({ slug }) => slug === 'cookie-policy') ?? {};
    const version = versions?.find(({ state, language }) => state === 'active' && language === 'en')?.id;
    const consent = { consent_type: 'cookie', decision, document_version_id: version };
    expect((await postSigned(app.url, key, '/tool/v1/consents', consent)).status).toBe(202);
  };

  it('sends what test keys record from now on, signed as the SDK verifies it, whatever the receiver answers', async () => {
    await record();
    const elsewhere = await answering([200]);
    const receiver = await answering([200], [500], [302, '', { location: elsewhere.url.href }]);
    const { lines, secret, turn, end } = await listening(new URL(app.url), key, receiver.url);
    expect(lines[0]).toBe(`Your webhook signing secret is ${secret}`);
    await turn();
    expect(receiver.received).toEqual([]);
    for (const decision of ['accepted', 'withdrawn', 'rejected']) await record(decision);
    await turn();
    receiver.close();
    await record();
    await turn();
    await turn();
    await end();
    const events = receiver.received.map(({ body, headers }) => verifyWebhook(body, headers, secret));
    expect(events.map(({ type, data }) => [type, data.decision])).toEqual([
      ['consent.recorded', 'accepted'],
      ['consent.withdrawn', 'withdrawn'],
      ['consent.recorded', 'rejected'],
    ]);
    expect(events[0]?.data).toMatchObject({ consent_token: expect.stringMatching(/^ct_test_/) });
    expect(elsewhere.received).toEqual([]);
    elsewhere.close();
    const shown = lines.slice(2).map((line) => line.split(/ {2,}/));
    expect(shown).toEqual(
      [...events.map(({ id }) => id), expect.stringMatching(/^msg_/)].map((id, n) => [
        ...[expect.stringMatching(/^\d{4}-.*Z$/), n === 1 ? 'consent.withdrawn' : 'consent.recorded', id],
        ...[['200', '500', '302', 'no connection (ECONNREFUSED)'][n], expect.stringMatching(/^\d+ ms$/)],
      ]),
    );
  });

  it('outlives a service that fails, asks it less often, and ends once it is refused', async () => {
    const page = JSON.stringify({ data: [], next_cursor: 'djE6MA', test: true });
    const error = (code: string): string => JSON.stringify({ code, message: `The reason of ${code}.` });
    const service = await answering(
      ...([
        [200, page],
        [503, '<p>'],
        [503, '<p>'],
        [429, error('BUSY'), { 'retry-after': '30' }],
      ] as const),
      ...([
        [200, page],
        [401, error('INVALID_API_KEY')],
      ] as const),
    );
    const { lines, pauses, turn } = await listening(service.url, key, service.url);
    for (let asked = 1; asked < 5; asked += 1) await turn();
    await expect(turn()).rejects.toThrow(/INVALID_API_KEY: The reason/);
    expect(lines.slice(2)).toEqual([
      expect.stringMatching(/answered 503, and not as Consent Ledger does.*Trying again/),
      expect.stringMatching(/BUSY: The reason of BUSY. Trying again/),
    ]);
    expect(pauses[0]).toBeLessThanOrEqual(1_000);
    expect(pauses[2]).toBeGreaterThan(2_000);
    expect(pauses[3]).toBe(30_000);
    service.close();
  });

  it.each([
    ['a public receiver', 1, /must lead to this machine/, () => ({ CONSENT_LEDGER_KEY: key }), 'https://203.0.113.7/'],
    ['a receiver without http', 2, /begins with http/, () => ({ CONSENT_LEDGER_KEY: key }), 'localhost:3000'],
    ['no key', 2, /Set CONSENT_LEDGER_KEY/, () => ({})],
    ['a live key', 2, /Set CONSENT_LEDGER_KEY/, () => ({ CONSENT_LEDGER_KEY: demo.keys.write })],
    ['an unknown key', 1, /INVALID_API_KEY/, () => ({ CONSENT_LEDGER_KEY: `svc_test_${'x'.repeat(43)}` })],
    ['no address', 2, /CONSENT_LEDGER_URL/, () => ({ CONSENT_LEDGER_KEY: key, CONSENT_LEDGER_URL: 'here' })],
  ] as const)('refuses %s', async (_, exitCode, stderr, env, receiver: string = 'http://localhost:3000/hook') => {
    const args = ['listen', '--forward-to', receiver];
    expect(await commandLine(app).run(args, { CONSENT_LEDGER_URL: app.url, ...env() })).toMatchObject({
      exitCode,
      stdout: '',
      stderr: expect.stringMatching(stderr),
    });
  });
});
