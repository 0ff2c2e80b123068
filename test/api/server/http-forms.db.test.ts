import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { signedHeaders } from '../../support/signed-requests.js';
import { type RunningApp, startApp } from './running-app.js';

let app: RunningApp;
let demo: SeededDemo;
beforeAll(async () => {
  app = await startApp('api');
  demo = await app.seed();
});
afterAll(() => app?.stop());

/** Sends bytes, and returns all answers once the service has closed the connection. The client does not close it. */
async function send(...lines: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(app.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.write(lines.join('\r\n'));
  const answers = await text(socket);
  socket.destroy();
  return answers;
}

const HOST = 'Host: a.example';
const COOKIE_POLICY = () => {
  const policy = demo.documents.find(({ slug }) => slug === 'cookie-policy');
  return policy?.versions.find(({ state, language }) => state === 'active' && language === 'en')?.id;
};

/** A signed consent to a request target, whose signature covers its path. */
function consent(target: string, ...headers: readonly string[]): readonly string[] {
  const body = JSON.stringify({ consent_type: 'cookie', decision: 'accepted', document_version_id: COOKIE_POLICY() });
  const signed = Object.entries(signedHeaders(demo.keys.write, '/tool/v1/consents', body));
  return [`POST ${target} HTTP/1.1`, ...headers, ...signed.map(([name, value]) => `${name}: ${value}`), '', body];
}
const LENGTH = 'Content-Length: 112';
const CHUNKS = (body: string) => [body.length.toString(16), body, '0', '', ''];

it.each([
  ['no Host', ['GET /healthz HTTP/1.1', '', '']],
  ['an unknown expectation', ['GET /healthz HTTP/1.1', HOST, 'Expect: 200-ok', '', '']],
  ['an expectation beside 100-continue', ['GET /healthz HTTP/1.1', HOST, 'Expect: 100-continue, x', '', '']],
  ['CONNECT', ['CONNECT b.example:443 HTTP/1.1', HOST, '', '']],
  [
    'a further transfer coding',
    ['POST /healthz HTTP/1.1', HOST, 'Transfer-Encoding: gzip, chunked', '', ...CHUNKS('{}')],
  ],
  [
    'chunked in HTTP/1.0',
    ['POST /healthz HTTP/1.0', HOST, 'Connection: keep-alive', 'Transfer-Encoding: chunked', '', ...CHUNKS('{}')],
  ],
  ['a path that is no path, in another form', ['GET http://b.example/%zz HTTP/1.1', HOST, '', '']],
  ['chunked twice', ['POST /healthz HTTP/1.1', HOST, 'Transfer-Encoding: chunked, chunked', '', ...CHUNKS('{}')]],
  ['the absolute form with another host', ['GET http://b.example/healthz HTTP/1.1', HOST, '', '']],
  ['the absolute form with a user', ['GET http://x@a.example/healthz HTTP/1.1', HOST, '', '']],
])('%s: 400 with the usual body, and the connection closes', async (_, lines) => {
  const answer = (await send(...lines)).replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(answer.toLowerCase()).toContain('\r\nconnection: close\r\n');
  const [, body = ''] = answer.split('\r\n\r\n');
  expect(JSON.parse(body)).toMatchObject({ code: 'BAD_REQUEST', error: { message: expect.stringMatching(/\.$/) } });
});

it('answers what was asked before, and nothing after', async () => {
  const healthz = ['GET /healthz HTTP/1.1', HOST, ''];
  const refused = ['GET /healthz HTTP/1.1', HOST, 'Expect: 200-ok', ''];
  const answers = await send(...healthz, ...refused, ...healthz, '');
  expect([...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status).slice(0, 2)).toEqual(['200', '400']);
});

it('reads the absolute form with the host of Host, and the signature covers the path', async () => {
  const lines = consent('http://A.example/tool/v1/consents?x=1', HOST, 'Connection: close', LENGTH);
  const length = `Content-Length: ${Buffer.byteLength(lines.at(-1) ?? '')}`;
  const answer = await send(...lines.map((line) => (line === LENGTH ? length : line)));
  expect(answer).toMatch(/^HTTP\/1\.1 202 /);
  const ping = ['GET http://a.example?x HTTP/1.1', HOST, 'Connection: close', '', ''];
  expect(await send(...ping)).toMatch(/^HTTP\/1\.1 200 /);
});

it('takes a body after 100-continue, and one in chunks', async () => {
  const lines = consent('/tool/v1/consents', HOST, 'Connection: close', 'Expect: 100-continue', LENGTH);
  const length = `Content-Length: ${Buffer.byteLength(lines.at(-1) ?? '')}`;
  const answer = await send(...lines.map((line) => (line === LENGTH ? length : line)));
  expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 202 /);
  const chunked = consent('/tool/v1/consents', HOST, 'Connection: close', 'Transfer-Encoding: Chunked');
  const [body = ''] = chunked.slice(-1);
  expect(await send(...chunked.slice(0, -1), ...CHUNKS(body))).toMatch(/^HTTP\/1\.1 202 /);
});
