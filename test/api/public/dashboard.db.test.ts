import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { dashboard, serveAssets } from '../../../src/api/public/dashboard.js';
import { createApp } from '../../../src/api/server/app.js';
import { titleNeeding } from '../../support/missing-tools.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../dashboard/dist/index.html', import.meta.url)));
/** Largest first load, in bytes as gzip. */
const MOST_BYTES = 300_000;

describe.skipIf(!isBuilt)(titleNeeding('the built dashboard', isBuilt, 'the dashboard at /panel'), () => {
  const make = (scannerHost?: string): FastifyInstance =>
    createApp({ log: pino({ level: 'silent' }), trustedProxies: [], scannerHost }, [dashboard]);
  const app = make();
  afterAll(() => app.close());
  const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });
  /** Addresses of the scripts and style sheets that a page names. */
  const namedIn = (html: string) =>
    [...html.matchAll(/(?:src|href)="(\/panel\/assets\/[^"]+)"/g)].map(([, url = '']) => url);

  test.each(['/panel', '/panel/', '/panel/sites/1/consents?decision=accepted'])('%s is the page', async (url) => {
    const response = await get(url);
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(response.headers['cache-control']).toBe('no-cache');
    expect(response.body).toContain('<div id="root">');
  });

  test('permits only what the service serves, and nothing inline', async () => {
    const { headers, body } = await get('/panel');
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|data:|http|\*/);
    expect(body).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|https?:/);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['cross-origin-opener-policy']).toBe('same-origin');
  });

  test('assets are named by their content, for ever, and compressed', async () => {
    const urls = namedIn((await get('/panel')).body);
    expect(urls.some((url) => url.endsWith('.js'))).toBe(true);
    expect(urls.some((url) => url.endsWith('.css'))).toBe(true);
    for (const url of urls) {
      const response = await get(url, { 'accept-encoding': 'br' });
      expect(response.statusCode).toBe(200);
      expect(response.headers['cache-control']).toBe('public, max-age=31536000, immutable');
      if (Number(response.headers['content-length']) > 1024) expect(response.headers['content-encoding']).toBe('br');
    }
  });

  test.each(['/panel/assets/none.js', '/panel/assets/..%2findex.html', '/panel/assets/%2e%2e%2findex.html'])(
    '%s is no asset',
    async (url) => {
      const response = await get(url);
      expect(response.statusCode).toBe(404);
      expect(response.json().code).toBe('ROUTE_NOT_FOUND');
    },
  );

  test('a first load transfers less than 300 kB', async () => {
    let bytes = 0;
    const seen = new Set<string>();
    const named = new Set<string>();
    const load = async (url: string): Promise<void> => {
      if (seen.has(url)) return;
      seen.add(url);
      const response = await get(url, { 'accept-encoding': 'gzip' });
      bytes += response.rawPayload.length;
      const isCompressed = response.headers['content-encoding'] === 'gzip';
      const text = (isCompressed ? gunzipSync(response.rawPayload) : response.rawPayload).toString('utf8');
      // Static imports of a module; pages and languages load when they are needed.
      const imports = [...text.matchAll(/(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g)];
      for (const [, name = ''] of imports) await load(`/panel/assets/${name}`);
      for (const [, name = ''] of text.matchAll(/import\(["'`]\.\/([\w.-]+\.js)/g)) named.add(name);
    };
    const page = await get('/panel');
    await load('/panel');
    for (const url of namedIn(page.body)) await load(url);
    // The language and the first page after sign-in, which the program loads by itself.
    const later = [...named].filter((name) => /^(?:overview|en)-/.test(name));
    expect(later).toHaveLength(2);
    for (const name of later) await load(`/panel/assets/${name}`);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(MOST_BYTES);
  });

  test('is not served on the host of the scanner', async () => {
    const scanner = make('scan.example');
    const response = await scanner.inject({ url: '/panel', headers: { host: 'scan.example' } });
    expect(response.statusCode).toBe(404);
    await scanner.close();
  });
});

test('an asset that could not be read once is read again', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'panel-assets-'));
  const folder = join(parent, 'assets');
  const app = createApp({ log: pino({ level: 'silent' }), trustedProxies: [] }, [
    (scope) => serveAssets(scope, folder),
  ]);
  const status = async () => (await app.inject({ url: '/panel/assets/page.js' })).statusCode;
  try {
    expect(await status()).toBe(500);
    mkdirSync(folder);
    symlinkSync(join(parent, 'later.js'), join(folder, 'page.js'));
    expect(await status()).toBe(500);
    writeFileSync(join(parent, 'later.js'), 'export {};');
    expect(await status()).toBe(200);
  } finally {
    await app.close();
    rmSync(parent, { recursive: true });
  }
});
