import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LookUpHost } from '../../../src/platform/net/reach.js';
import { domainChallenges, type PageProofKind } from '../../../src/tenancy/domains/challenges.js';
import { createFetchPage } from '../../../src/tenancy/domains/fetch-page.js';
import { createLookForProof, type ProofLook } from '../../../src/tenancy/domains/page-proof.js';
import { createWebhookTargets } from '../../../src/tenancy/webhooks/webhook-targets.js';
import { type ShopServer, startShopServer } from './shop-server.js';

const DOMAIN = 'shop.example';
const CHALLENGES = domainChallenges(DOMAIN, 'a1b2');
const FILE = '/.well-known/consent-ledger.txt';

let server: ShopServer;
let asked: IncomingMessage[] = [];
let answer: (request: IncomingMessage, response: ServerResponse) => void;
/** Addresses of the names, one for each look-up; the last one stays. */
let addresses: string[] = [];
let lookUps = 0;
const lookUp: LookUpHost = (_name, _options, callback) => {
  lookUps += 1;
  const address = addresses.length > 1 ? addresses.shift() : addresses[0];
  setImmediate(() => callback(null, [{ address: address ?? '', family: 4 }]));
};

beforeAll(async () => {
  server = await startShopServer([DOMAIN, 'other.example', 'xn--e1afmkfd.example'], (request, response) => {
    asked.push(request);
    answer(request, response);
  });
});
afterAll(() => server.stop());
beforeEach(() => {
  asked = [];
  addresses = ['127.0.0.1'];
  lookUps = 0;
});

const look = (kind: PageProofKind, networks = ['127.0.0.1/32'], domain = DOMAIN): Promise<ProofLook> =>
  createLookForProof(
    createFetchPage({
      lookupOf: createWebhookTargets(networks, lookUp).lookupOf,
      userAgent: 'consent-ledger/test',
      onCaught: (error) => {
        throw error;
      },
      test: { port: server.port, ca: server.ca, timeoutMs: 1_500 },
    }),
  )(kind, domain, CHALLENGES);
const says = (body: string | Buffer, headers: Record<string, string> = { 'content-type': 'text/html' }) => {
  answer = (_request, response) => void response.writeHead(200, headers).end(body);
};
const leadsTo = (...locations: readonly string[]) => {
  answer = ({ url = '' }, response) => {
    const at = url === FILE ? 0 : Number(url.slice(1));
    const location = locations[at];
    if (location === undefined) response.writeHead(200, { 'content-type': 'text/plain' }).end(CHALLENGES.file.content);
    else response.writeHead(302, { location, 'set-cookie': 'a=b' }).end();
  };
};

describe('the file that proves a domain', () => {
  it('is read once, with the host, without a cookie or a compression', async () => {
    says(`\ufeff${CHALLENGES.file.content}\r\n`, {});
    expect(await look('file')).toEqual({ outcome: 'found', message: '' });
    const [request] = asked;
    expect(request).toMatchObject({ method: 'GET', url: FILE });
    expect(request?.headers).toEqual({
      'user-agent': 'consent-ledger/test',
      accept: 'text/html, text/plain',
      'accept-encoding': 'identity',
      host: `${DOMAIN}:${server.port}`,
      connection: 'close',
    });
  });

  it.each([
    ['', 'the file is empty'],
    [domainChallenges(DOMAIN, 'other-token').file.content, 'the file has another text'],
    [`${CHALLENGES.file.content} and more`, 'the file has another text'],
    [`You asked for: ${CHALLENGES.file.content}`, 'the file has another text'],
    [`${CHALLENGES.file.content}${' '.repeat(2_000)}`, 'the file has another text'],
  ])('is not %j', async (text, reason) => {
    says(text, {});
    expect(await look('file')).toEqual({
      outcome: 'missing',
      message: `The file https://shop.example${FILE} with the text ${CHALLENGES.file.content} was looked for, but ${reason}.`,
    });
  });

  it.each([201, 204, 304, 401, 404, 410, 500])('is not an answer with status %i', async (status) => {
    answer = (_request, response) => void response.writeHead(status).end();
    const { outcome, message } = await look('file');
    expect([outcome, message]).toEqual(['missing', expect.stringContaining(`answered with status ${status}.`)]);
  });

  it('is followed to three addresses of the host', async () => {
    leadsTo(
      '/1',
      `https://SHOP.example:${server.port}/2`,
      'https://u:p@shop.example:PORT/3'.replace('PORT', `${server.port}`),
    );
    expect((await look('file')).outcome).toBe('found');
    expect(asked.map(({ headers }) => [headers.cookie, headers.authorization])).toEqual(
      Array(4).fill([undefined, undefined]),
    );
    leadsTo('/1', '/2', '/3', '/4');
    expect((await look('file')).message).toContain('redirects more than 3 times');
  });

  it.each([
    ['https://other.example/', 'another host (other.example)'],
    ['https://www.shop.example/', 'another host (www.shop.example)'],
    ['https://shop.example./', 'another host (shop.example.)'],
    ['https://169.254.169.254/latest/meta-data', 'another host (169.254.169.254)'],
    ['//127.0.0.1/', 'another host (127.0.0.1)'],
    ['https://shop.example:8443/', 'another port'],
    ['http://shop.example/', 'not HTTPS'],
    ['file:///etc/passwd', 'not HTTPS'],
    ['https://', 'an invalid address'],
  ])('is not followed to %s', async (location, reason) => {
    leadsTo(location);
    const { outcome, message } = await look('file');
    expect([outcome, message]).toEqual(['missing', expect.stringContaining(reason)]);
    expect([asked.length, lookUps]).toEqual([1, 1]);
  });

  it('is not asked of a private address, even after a redirect', async () => {
    says(CHALLENGES.file.content, {});
    expect(await look('file', [])).toMatchObject({
      outcome: 'unreached',
      message: expect.stringContaining('but the host has no public address.'),
    });
    expect(asked).toEqual([]);
    // The name leads elsewhere once it was checked.
    addresses = ['127.0.0.1', '10.0.0.1'];
    leadsTo('/1');
    expect((await look('file')).message).toContain('the host has no public address');
    expect([asked.length, lookUps]).toEqual([1, 3]);
  });

  it('needs a certificate for its host', async () => {
    says(CHALLENGES.file.content, {});
    const { outcome, message } = await look('file', undefined, 'no-name.example');
    expect([outcome, message]).toEqual(['unreached', expect.stringMatching(/certificate of the server is not valid/)]);
    expect(asked).toEqual([]);
    expect((await look('file', undefined, 'xn--e1afmkfd.example')).outcome).toBe('found');
  });

  it('is not waited for without an end', async () => {
    answer = () => undefined;
    expect(await look('file')).toMatchObject({
      outcome: 'unreached',
      message: expect.stringContaining('within 1.5 s'),
    });
    answer = (_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('\n'), 20);
      response.on('close', () => clearInterval(timer));
    };
    expect((await look('file')).outcome).toBe('unreached');
    answer = ({ socket }) =>
      void socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n');
    expect((await look('file')).outcome).not.toBe('found');
    answer = ({ socket }) => void socket.destroy();
    expect((await look('file')).outcome).toBe('unreached');
  });

  it('is not decompressed', async () => {
    says(gzipSync(Buffer.alloc(50_000_000)), { 'content-encoding': 'gzip' });
    expect((await look('file')).message).toContain('compressed its answer');
  });
});

describe('the tag that proves a domain', () => {
  it('is read from the first 256 KiB of the start page', async () => {
    says(`<head>${CHALLENGES.meta.tag}</head>`);
    expect((await look('meta')).outcome).toBe('found');
    expect(asked[0]?.url).toBe('/');
    says(`<head>${' '.repeat(256 * 1024)}${CHALLENGES.meta.tag}</head>`);
    expect(await look('meta')).toMatchObject({
      outcome: 'missing',
      message: expect.stringContaining('has no such tag'),
    });
    let sent = 0;
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      const more = (): void => {
        sent += 1;
        if (!response.destroyed) response.write(' '.repeat(64 * 1024), () => setImmediate(more));
      };
      more();
    };
    expect((await look('meta')).outcome).toBe('missing');
    expect(sent).toBeLessThan(1_000);
  });

  it('is not in the body, not that of another site, and not in an answer of another type', async () => {
    says(`<html><body>${CHALLENGES.meta.tag}</body></html>`);
    expect((await look('meta')).outcome).toBe('missing');
    says(`<head>${domainChallenges(DOMAIN, 'other').meta.tag}</head>`);
    expect((await look('meta')).message).toContain('the tag has another content');
    says(`<head>${CHALLENGES.meta.tag}</head>`, { 'content-type': 'application/json' });
    expect((await look('meta')).message).toContain('not a page of the type text/html');
  });
});
