import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { createReach } from '../../../src/platform/net/reach.js';
import { createMessageReader, DevTools } from '../../../src/tenancy/scans/browser.js';
import { startGuardedProxy } from '../../../src/tenancy/scans/guarded-proxy.js';
import { targetAt } from '../../../src/tenancy/scans/scan-target.js';
import { Faults, LIMITS, type Visit } from '../../../src/tenancy/scans/visit.js';
import { Page } from '../../../src/tenancy/scans/visit-by-browser.js';
import { visitByHttp } from '../../../src/tenancy/scans/visit-by-http.js';
import {
  endsOfProcess,
  type HostileServer,
  hostileAnswers,
  hostileTexts,
  knownAnswers,
  startHostileServer,
} from '../../support/hostile-answers.js';
import { sampled } from '../../support/sweeps.js';
import { PATIENCE_MS } from '../../support/wait.js';
import { NEW_VISITOR } from './scanned-shop.js';

const VALID = { status: 200, contentType: 'text/html', body: '<h1>Shop</h1>' };
let server: HostileServer;
beforeAll(async () => {
  server = await startHostileServer();
});
afterAll(() => server.close());

/** Requests the server's page through the proxy. @returns what came until the connection ended */
const through = (port: number): Promise<string> =>
  new Promise((resolve) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(`GET http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n`),
    );
    socket.on('error', () => socket.destroy());
    socket.on('close', () => resolve(answer));
    socket.setEncoding('latin1').on('data', (text: string) => {
      answer += text;
    });
  });

const answersTried = () => [
  ...knownAnswers(VALID),
  ...sampled('hostile answers to a scan', hostileAnswers(VALID, process.env.TEST_SEED ?? '')),
];

it('a visit without a browser survives every answer of a page', async () => {
  const visit = visitByHttp(createReach(['127.0.0.1/32']), 'test');
  const ends = await endsOfProcess(answersTried(), async (one) => {
    server.say(one);
    const target = targetAt(new URL(`http://127.0.0.1:${server.port}/`), {
      domain: '127.0.0.1',
      coversSubdomains: true,
    });
    await visit(target, NEW_VISITOR, new AbortController().signal).catch(() => undefined);
  });
  expect(ends).toEqual([]);
});

it('the proxy of a scan survives every answer of a page, and forwards what a browser may get', async () => {
  const cases = answersTried();
  const strange: string[] = [];
  const run = async (some: typeof cases): Promise<readonly string[]> => {
    const proxy = await startGuardedProxy(createReach(['127.0.0.1/32']), new Faults());
    const ends = await endsOfProcess(some, async (one) => {
      server.say(one);
      const answer = await through(proxy.port);
      const [head = ''] = answer.split('\r\n\r\n');
      const isForwarded =
        /^HTTP\/1\.1 [2-5]\d\d /.test(head) && !/^(?:trailer|upgrade|keep-alive|te|proxy)/im.test(head);
      if (answer !== '' && !isForwarded) strange.push(`${one.name}: ${head}`);
    });
    await proxy.close();
    return ends;
  };
  // A proxy takes no more requests.
  for (let from = 0; from < cases.length; from += LIMITS.requests)
    expect(await run(cases.slice(from, from + LIMITS.requests))).toEqual([]);
  expect(strange).toEqual([]);
});

const PAGE = 'https://shop.example/';
const ASKED = { url: PAGE, method: 'GET', headers: {} };
const RECORDING = { url: 'https://api.example/tool/v1/consents', method: 'POST', headers: { Origin: PAGE } };
const SIGNALLED = { ...NEW_VISITOR, isSignalled: true };
const SESSION = { sessionId: 'S' };
const cookie = {
  name: 'a',
  domain: '.shop.example',
  path: '/',
  expires: 9e9,
  httpOnly: true,
  secure: true,
  session: false,
};
/** Messages of a browser after a command: the result, and events. */
const SENT: Readonly<Record<string, readonly object[]>> = {
  'Target.createTarget': [{ result: { targetId: 'T' } }],
  'Target.attachToTarget': [{ result: SESSION }],
  'Page.navigate': [
    ...[
      ['Fetch.requestPaused', { requestId: '1', frameId: 'T', resourceType: 'Document', request: ASKED }] as const,
      ['Fetch.requestPaused', { requestId: '2', frameId: 'T', resourceType: 'Fetch', request: RECORDING }] as const,
      ['Network.requestWillBeSent', { request: { url: PAGE } }] as const,
      ['Network.responseReceived', { type: 'Document', frameId: 'T', response: { url: PAGE, status: 200 } }] as const,
      ['Target.attachedToTarget', { sessionId: 'worker', targetInfo: { type: 'worker' } }] as const,
      ['Page.javascriptDialogOpening', { message: 'x' }] as const,
      ['Page.loadEventFired', {}] as const,
    ].map(([method, params]) => ({ method, params, ...SESSION })),
    { result: { frameId: 'T' } },
  ],
  'Storage.getCookies': [{ result: { cookies: [cookie] } }],
  'DOMStorage.getDOMStorageItems': [{ result: { entries: [['key', 'value']] } }],
  'IndexedDB.requestDatabaseNames': [{ result: { databaseNames: ['base'] } }],
};
const Command = z.object({ id: z.int(), method: z.string() });

/**
 * One visit with a browser that sends `SENT`.
 * @param replace returns another text for a message, by the number of messages before it
 */
async function visitWith(
  replace: (text: string, index: number) => string,
  times = TIMES,
  visitMs = VISIT_MS,
): Promise<Visit> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const faults = new Faults();
  const page = new Page(
    targetAt(new URL(PAGE), { domain: 'shop.example', coversSubdomains: true }),
    SIGNALLED,
    times,
    faults,
  );
  const tools = new DevTools(input, output, (...event) => page.handle(...event), faults);
  let sent = 0;
  input.on('data', (piece: Buffer) => {
    for (const text of String(piece)
      .split('\0')
      .filter((one) => one !== '')) {
      const { id, method } = Command.parse(JSON.parse(text));
      for (const message of SENT[method] ?? [{ result: {} }]) {
        output.write(`${replace(JSON.stringify('result' in message ? { id, ...message } : message), sent)}\0`);
        sent += 1;
      }
    }
  });
  const visit = page.visit(tools, { failureOf: () => undefined });
  // A command without a result: a visit has a limit, too.
  void pause(visitMs, undefined, { ref: false }).then(() => tools.end('The browser ended.'));
  return visit;
}
const TIMES = { answerMs: 20, loadMs: 20, settleMs: 0, visitMs: 0 };
const VISIT_MS = 60;

it('a visit survives every message of its browser', async () => {
  const messages: unknown[] = [];
  const keep = (text: string): string => {
    messages.push(JSON.parse(text));
    return text;
  };
  const visit = await visitWith(keep, { ...TIMES, answerMs: PATIENCE_MS, loadMs: PATIENCE_MS }, PATIENCE_MS);
  expect(visit).toMatchObject({ status: 200, cookies: [{ name: 'a' }], hosts: ['shop.example'] });
  const cases = sampled(
    'hostile messages of the browser of a scan',
    hostileTexts(messages, process.env.TEST_SEED ?? ''),
  );
  const ends = await endsOfProcess(cases, async (one) => {
    await visitWith((text, index) => (index === one.index ? one.text : text)).catch(() => undefined);
  });
  expect(ends).toEqual([]);
});

it('reads a long message in steps that grow with its length, and none that is too long', () => {
  const read = (pieces: number): { readonly joined: number; readonly methods: readonly string[] } => {
    const methods: string[] = [];
    const reader = createMessageReader(({ method = '' }) => methods.push(method));
    const whole = Buffer.from(
      `${JSON.stringify({ method: 'long', params: 'x'.repeat(pieces * 100) })}\0{"method":"next"}\0`,
    );
    let joined = 0;
    const { concat } = Buffer;
    Buffer.concat = (list, length) => {
      const result = concat(list, length);
      joined += result.length;
      return result;
    };
    try {
      for (let at = 0; at < whole.length; at += 100) reader(whole.subarray(at, at + 100));
    } finally {
      Buffer.concat = concat;
    }
    return { joined, methods };
  };
  for (const pieces of [100, 400]) {
    const { joined, methods } = read(pieces);
    expect(methods).toEqual(['long', 'next']);
    expect(joined).toBeLessThan(pieces * 100 + 200);
  }
  const reader = createMessageReader(() => undefined);
  const piece = Buffer.alloc(LIMITS.messageBytes / 10, 'x');
  for (let n = 0; n < 10; n += 1) reader(piece);
  expect(() => reader(piece)).toThrow('too long');
});
