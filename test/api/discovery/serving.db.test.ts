import { createHash } from 'node:crypto';
import { type IncomingHttpHeaders, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Validator } from '@seriousme/openapi-schema-validator';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { replaceSigningKey } from '../../../src/accounts/sign-in/access-tokens.js';
import { panelDescription, toolApiDescription } from '../../../src/api/openapi/descriptions.js';
import { until } from '../../support/wait.js';
import { type RunningApp, startApp } from '../server/running-app.js';
import { SkillsIndex } from './formats/agent-skills.js';
import { parseLinkHeader } from './formats/link-header.js';
import { problemsOfSecurityTxt } from './formats/security-txt.js';

const LINKSET = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';
/** Every document, and the exact content type that its specification asks for. */
const DOCUMENTS = [
  ['/.well-known/api-catalog', LINKSET],
  ['/tool/v1/', LINKSET],
  ['/api/v1/', LINKSET],
  ['/.well-known/ai-catalog.json', 'application/ai-catalog+json'],
  ['/.well-known/agent-skills/index.json', 'application/json'],
  ['/.well-known/agent-skills/record-a-consent/SKILL.md', 'text/markdown; charset=utf-8'],
  ['/.well-known/agent-skills/set-a-site-up/SKILL.md', 'text/markdown; charset=utf-8'],
  ['/.well-known/agent-skills/put-the-banner-on-a-page/SKILL.md', 'text/markdown; charset=utf-8'],
  ['/.well-known/agent-skills/receive-webhooks/SKILL.md', 'text/markdown; charset=utf-8'],
  ['/.well-known/agent-skills/verify-a-record/SKILL.md', 'text/markdown; charset=utf-8'],
  ['/.well-known/agent-skills/check-a-package/SKILL.md', 'text/markdown; charset=utf-8'],
  ['/.well-known/jwks.json', 'application/jwk-set+json'],
  ['/.well-known/security.txt', 'text/plain; charset=utf-8'],
  ['/llms.txt', 'text/plain; charset=utf-8'],
  ['/llms-full.txt', 'text/plain; charset=utf-8'],
  ['/docs/webhooks.md', 'text/markdown; charset=utf-8'],
  ['/robots.txt', 'text/plain; charset=utf-8'],
  ['/openapi.yaml', 'application/yaml'],
  ['/openapi/tool-api.json', 'application/json; charset=utf-8'],
] as const;

describe('the documents of discovery', () => {
  let app: RunningApp;
  beforeAll(async () => {
    app = await startApp('api', { SECURITY_CONTACT: 'mailto:security@example.org' });
  });
  afterAll(() => app.stop());

  /** A response as it is sent, without decoding. */
  const raw = (path: string, headers: Record<string, string>) =>
    new Promise<{ status: number | undefined; headers: IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
      request(app.url + path, { headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }),
        );
      })
        .on('error', reject)
        .end();
    });

  it.each(DOCUMENTS)('%s is %s, cacheable, readable from any origin', async (path, contentType) => {
    const plain = { 'accept-encoding': 'identity' };
    const response = await fetch(app.url + path, { headers: { ...plain, origin: 'https://elsewhere.example' } });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(contentType);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('set-cookie')).toBeNull();
    const etag = response.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{20,}"$/);

    const head = await fetch(app.url + path, { method: 'HEAD', headers: plain });
    expect(head.status).toBe(200);
    expect((await head.arrayBuffer()).byteLength).toBe(0);
    for (const name of ['content-type', 'etag', 'cache-control', 'link', 'access-control-allow-origin']) {
      expect(head.headers.get(name), name).toBe(response.headers.get(name));
    }
    expect(head.headers.get('content-length')).toBe(String(bytes.length));

    for (const method of ['GET', 'HEAD']) {
      for (const held of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await fetch(app.url + path, { method, headers: { ...plain, 'if-none-match': held } });
        expect([again.status, await again.text()], held).toEqual([304, '']);
        expect(again.headers.get('etag')).toBe(etag);
        expect(again.headers.get('cache-control')).toBe('public, max-age=300');
      }
    }
    const changed = await fetch(app.url + path, { headers: { 'if-none-match': `"${'x'.repeat(24)}", other` } });
    expect(changed.status).toBe(200);

    const post = await fetch(app.url + path, { method: 'POST' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it.each(DOCUMENTS)('%s is sent compressed to clients that accept it', async (path) => {
    const identity = await raw(path, { 'accept-encoding': 'br;q=0, gzip;q=0' });
    expect(identity.headers['content-encoding']).toBeUndefined();
    expect(identity.headers.vary).toBe('Accept-Encoding');
    const tags = new Set([identity.headers.etag]);
    for (const [accepted, coding] of [
      ['gzip, deflate, br', 'br'],
      ['BR;q=0.5', 'br'],
      ['deflate, gzip;q=1.0, br;q=0', 'gzip'],
      ['*', 'br'],
    ] as const) {
      const { headers, body } = await raw(path, { 'accept-encoding': accepted });
      expect(headers.vary).toBe('Accept-Encoding');
      if (identity.body.length < 1024) {
        expect(headers['content-encoding']).toBeUndefined();
        continue;
      }
      expect(headers['content-encoding']).toBe(coding);
      expect(Number(headers['content-length'])).toBe(body.length);
      expect(body.length).toBeLessThan(identity.body.length);
      expect((coding === 'br' ? brotliDecompressSync(body) : gunzipSync(body)).equals(identity.body)).toBe(true);
      tags.add(headers.etag);
      const again = await raw(path, { 'accept-encoding': accepted, 'if-none-match': headers.etag ?? '' });
      expect([again.status, again.body.length, again.headers.vary]).toEqual([304, 0, 'Accept-Encoding']);
    }
    expect(tags.size).toBe(identity.body.length < 1024 ? 1 : 3);
  });

  it.each(DOCUMENTS)('%s does not believe the host that a request names', async (path) => {
    const { hostname, port } = new URL(app.url);
    const bodyWith = (headers: Record<string, string>): Promise<{ body: string; headers: object }> =>
      new Promise((resolve, reject) => {
        request({ hostname, port, path, headers }, (response) => {
          let body = '';
          response.setEncoding('utf8').on('data', (text: string) => {
            body += text;
          });
          response.on('end', () => resolve({ body, headers: response.headers }));
        })
          .on('error', reject)
          .end();
      });
    const forged = await bodyWith({
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'evil',
      forwarded: 'host=evil.example',
      'x-original-url': '/evil',
    });
    expect(JSON.stringify(forged)).not.toContain('evil');
    expect(forged.body).toBe((await bodyWith({})).body);
  });

  it('names the catalogs in the Link header, also for HEAD (RFC 9727 §2 and §3)', async () => {
    for (const path of ['/.well-known/api-catalog', '/tool/v1/', '/api/v1/', '/llms.txt']) {
      const head = await fetch(app.url + path, { method: 'HEAD' });
      expect(parseLinkHeader(head.headers.get('link') ?? '')).toEqual([
        { target: '/.well-known/api-catalog', parameters: { rel: 'api-catalog', type: 'application/linkset+json' } },
        {
          target: '/.well-known/ai-catalog.json',
          parameters: { rel: 'ai-catalog', type: 'application/ai-catalog+json' },
        },
      ]);
    }
  });

  it('has a page for people at its root that runs nothing and whose links answer', async () => {
    const response = await fetch(`${app.url}/`);
    const html = await response.text();
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const [, style = ''] = /<style>(.*)<\/style>/s.exec(html) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(response.headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
    );
    expect(html).not.toMatch(/<script|<link|<img|\sstyle=|\son\w+=/);
    const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, path]) => path ?? '');
    const paths = DOCUMENTS.map(([path]) => path).filter((path) => !/^\/(robots|tool|api)/.test(path));
    expect(links).toEqual(
      expect.arrayContaining([...paths, '/verify', '/verify/consent-verify.html', '/checkpoints/']),
    );
    for (const path of links) {
      // An installation that has sealed nothing has no ledger key yet, and no development authority.
      const expected = ['/checkpoints/ledger.vkey', '/checkpoints/tsa-roots.pem'].includes(path) ? [200, 404] : [200];
      expect(expected, path).toContain((await fetch(app.url + path)).status);
    }
    expect((await fetch(`${app.url}/`, { method: 'POST' })).status).toBe(405);
  });

  it('publishes skills whose digests are those of the bytes that are served', async () => {
    const index = SkillsIndex.parse(await (await fetch(`${app.url}/.well-known/agent-skills/index.json`)).json());
    expect(index.skills).toHaveLength(6);
    for (const { url, digest } of index.skills) {
      const bytes = await (await fetch(new URL(url, app.url))).arrayBuffer();
      expect(digest).toBe(`sha256:${createHash('sha256').update(Buffer.from(bytes)).digest('hex')}`);
    }
    for (const path of [
      '/.well-known/agent-skills/no-such-skill/SKILL.md',
      '/docs/operations.md',
      '/docs/',
      '/docs/../package.json',
    ])
      expect((await fetch(app.url + path)).status, path).toBe(404);
  });

  it('publishes keys that verify its tokens', async () => {
    const { api_user } = await app.seed();
    const login = await fetch(`${app.url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: api_user.email, password: api_user.password }),
    });
    const Tokens = z.object({ data: z.object({ access_token: z.string() }) });
    const { access_token } = Tokens.parse(await login.json()).data;
    const JwkSet = z.object({
      keys: z.array(
        z.strictObject({
          kty: z.literal('OKP'),
          crv: z.literal('Ed25519'),
          x: z.string().regex(/^[\w-]{43}$/),
          kid: z.string().min(1),
          use: z.literal('sig'),
          alg: z.literal('EdDSA'),
        }),
      ),
    });
    const set = JwkSet.parse(await (await fetch(`${app.url}/.well-known/jwks.json`)).json());
    const { protectedHeader } = await jwtVerify(access_token, createLocalJWKSet(set));
    expect(set.keys.map(({ kid }) => kid)).toContain(protectedHeader.kid);
    await expect(jwtVerify(access_token, createLocalJWKSet({ keys: [] }))).rejects.toThrow();
  });

  it('publishes a new key before it signs, longer than a cache may keep the set without it, beside the one that signs', async () => {
    const read = () => fetch(`${app.url}/.well-known/jwks.json`);
    const before = await read();
    const { workerPool, keyring } = app.service.installation;
    const client = await workerPool.connect();
    const { keyId, signsIn } = await replaceSigningKey(client, keyring, false).finally(() => client.release());
    const etag = before.headers.get('etag') ?? '';
    // Each process keeps the set for a second.
    const after = await until(async () => {
      const answer = await fetch(`${app.url}/.well-known/jwks.json`, { headers: { 'if-none-match': etag } });
      return answer.status === 304 ? null : answer;
    });
    expect(after.status).toBe(200);
    const Kids = z.object({ keys: z.array(z.object({ kid: z.string() })) });
    const [old, both] = [Kids.parse(await before.json()), Kids.parse(await after.json())];
    expect(both.keys.map(({ kid }) => kid)).toEqual([keyId, ...old.keys.map(({ kid }) => kid)]);
    const [, maxAge] = /max-age=(\d+)$/.exec(after.headers.get('cache-control') ?? '') ?? [];
    expect(Number(maxAge)).toBeGreaterThan(0);
    expect(Number(maxAge) + 1).toBeLessThan(signsIn);
  });

  it('describes both APIs in valid OpenAPI 3.1', async () => {
    const yaml = await (await fetch(`${app.url}/openapi.yaml`)).text();
    expect(parse(yaml)).toEqual(panelDescription());
    const json = await (await fetch(`${app.url}/openapi/tool-api.json`)).text();
    expect(JSON.parse(json)).toEqual(toolApiDescription());
    for (const text of [yaml, json]) expect((await new Validator().validate(text)).errors).toBeUndefined();
  });

  it('publishes a security.txt that is right today', async () => {
    const text = await (await fetch(`${app.url}/.well-known/security.txt`)).text();
    expect(problemsOfSecurityTxt(text, new Date())).toEqual([]);
  });
});

describe('an installation without PUBLIC_URL and contact', () => {
  it('has no security.txt rather than one without a contact', async () => {
    const app = await startApp('api');
    for (const path of ['/.well-known/security.txt', '/security.txt']) {
      expect((await fetch(app.url + path)).status, path).toBe(404);
    }
    await app.stop();
  });
});
