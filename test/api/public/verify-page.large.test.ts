import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { verifyPage } from '../../../src/api/public/verify-page.js';
import { createApp } from '../../../src/api/server/app.js';
import { setAppearance, violationsOf } from '../../support/axe.js';
import { ChromiumPage, chromiumPath } from '../../support/chromium.js';
import { fixtureAuthority, LEDGER_KEY, VERIFIED_AT } from '../../support/ledger-fixture.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { buildPackage } from '../../support/package-builder.js';
import { eventually } from '../../support/wait.js';

const asked: unknown[] = [];
const record = {
  consent_type: 'cookies',
  decision: 'accepted',
  proof_hash: 'a'.repeat(64),
  hash_version: 2,
  hash_valid: true,
  merkle_valid: true,
  is_anonymized: false,
  is_tsa_stamped: true,
  created_at: '2026-03-01T10:11:00.000Z',
  site_domain: '<img src=x onerror=alert(1)>',
  withdrawal_url: 'https://shop.example/choices',
  categories: { analytics: true },
  services: null,
  language: 'en',
  valid_until: null,
  imported_from: null,
  claimed_at: null,
  timestamp: { time: '2026-03-01T10:19:00.000Z', checkpoint_size: 2 },
};

const TOKEN = `ct_${'0'.repeat(32)}`;
const authority = fixtureAuthority();

/** The page's own routes, beside a look-up that answers what each case needs. */
const app = createApp({ log: pino({ level: 'silent' }), trustedProxies: [] }, [
  verifyPage,
  (scope) => {
    scope.post('/api/v1/public/consents/verify', (request, reply) => {
      const { token } = JSON.parse(String(request.rawBody));
      asked.push(token);
      if (token === 'ct_unknown')
        return reply.code(404).send({ valid: false, error: { code: 'CONSENT_NOT_FOUND', message: 'No.' } });
      const unknown = { valid: false, source: 'client_token', server_record_found: false, data: {} };
      if (token === 'cookie') return unknown;
      if (token === 'ct_test_') return { ...unknown, reason: 'test' };
      const origin =
        token === 'ct_imported' ? { imported_from: 'House tool', claimed_at: '2024-05-01T08:00:00.000Z' } : {};
      const site = token === 'ct_withdrawable' ? { site_domain: 'shop.example', scope: 'account' } : {};
      return { valid: true, source: 'server', server_record_found: true, data: { ...record, ...origin, ...site } };
    });
    // Any file that the verifier takes shows that the page gives it the answer.
    scope.get(`/api/v1/public/consents/${TOKEN}/receipt`, () => Buffer.from(buildPackage(authority)));
  },
]);
let origin = '';

beforeAll(async () => {
  origin = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => app.close());

test.each(['/verify', '/verify/consent-verify.html'])('%s comes with the policy that the page states', async (path) => {
  const response = await fetch(`${origin}${path}`);
  const html = await response.text();
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const policy = response.headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'sha256-[^ ]+'(?: 'sha256-[^ ]+')?; style-src 'sha256-[^ ]+'; img-src data:; connect-src /,
  );
  expect(policy).toContain("frame-ancestors 'none'");
  expect(html).toContain(policy.replace("; frame-ancestors 'none'", ''));
  expect(policy).toContain(path === '/verify' ? "connect-src 'self'" : "connect-src 'none'");
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  expect(response.headers.get('x-frame-options')).toBe('DENY');
  expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  const disposition = response.headers.get('content-disposition');
  expect(disposition).toBe(path === '/verify' ? null : 'attachment; filename="consent-verify.html"');
});

test('/verify names the file of the verifier by its digest, in its policy too', async () => {
  const html = await (await fetch(`${origin}/verify`)).text();
  const [, src = '', integrity = ''] = /<script defer [^>]*src="([^"]+)" integrity="([^"]+)">/.exec(html) ?? [];
  const response = await fetch(`${origin}${src}`);
  expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(response.headers.get('cross-origin-resource-policy')).toBe('same-origin');
  const digest = createHash('sha256').update(new Uint8Array(await response.arrayBuffer()));
  expect(integrity).toBe(`sha256-${digest.digest('base64')}`);
  expect(html).toMatch(new RegExp(`script-src 'sha256-[^']+' '${integrity.replaceAll('+', '\\+')}';`));
  expect(response.headers.get('cache-control')).toContain('max-age=');
  const foreign = await fetch(`${origin}/verify/verify-page.js?sha256=${'0'.repeat(64)}`);
  expect([foreign.status, foreign.headers.get('cache-control')]).toEqual([200, 'no-store']);
  // What must be there before an answer can be shown.
  expect(html.length).toBeLessThan(90_000);
});

test.each(['/verify', '/verify/verify-page.js', '/verify/consent-verify.html'])(
  '%s is sent compressed, and not again',
  async (path) => {
    const response = await fetch(`${origin}${path}`, { headers: { 'accept-encoding': 'br' } });
    const etag = response.headers.get('etag') ?? '';
    expect(response.headers.get('content-encoding')).toBe('br');
    expect(response.headers.get('vary')).toBe('Accept-Encoding');
    const length = Number(response.headers.get('content-length'));
    expect(length).toBeGreaterThan(0);
    expect(length).toBeLessThan((await response.text()).length / 2);
    const again = await fetch(`${origin}${path}`, { headers: { 'accept-encoding': 'br', 'if-none-match': etag } });
    expect(again.status).toBe(304);
    expect(again.headers.get('content-security-policy')).toBe(response.headers.get('content-security-policy'));
  },
);

test('it takes no other method', async () => {
  expect((await fetch(`${origin}/verify`, { method: 'POST' })).status).toBe(405);
});

test.skipIf(chromiumPath === undefined)(
  titleNeeding('Chromium', chromiumPath !== undefined, 'in Chromium: a package is checked, and a token looked up'),
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'consent-verify-served-'));
    const files = ['root.der', 'ledger.key', 'package.zip'].map((name) => join(folder, name));
    writeFileSync(files[0] ?? '', authority.root.der);
    writeFileSync(files[1] ?? '', LEDGER_KEY.verifierKey);
    writeFileSync(files[2] ?? '', buildPackage(authority));
    const page = await ChromiumPage.open(chromiumPath ?? '');
    const textOf = async (id: string) => String(await page.evaluate(`document.getElementById('${id}').innerText`));
    const isHidden = (id: string) => page.evaluate(`document.getElementById('${id}').hidden`);
    const lookUp = async (token: string, answer: string) => {
      await page.evaluate(`document.getElementById('token').value = ' ${token} '`);
      await page.evaluate(`document.getElementById('lookup').requestSubmit()`);
      await page.until(async () => (await textOf('lookup-result')).includes(answer));
    };
    try {
      await page.goto(`${origin}/verify`);
      await page.evaluate(`document.getElementById('at').value = '${VERIFIED_AT.toISOString().slice(0, 19)}'`);
      await page.dropFiles(300, 300, files);
      await page.until(async () => (await textOf('status')) === 'Checked: valid.');
      await lookUp('ct_known', 'a time stamp covers it since 1 March 2026, 10:19 UTC');
      expect(await textOf('lookup-result')).toContain('<img src=x onerror=alert(1)>');
      const links = () => page.evaluate(`[...document.querySelectorAll('#lookup-result a')].map(({ href }) => href)`);
      // An address that is not on the site of the record is no link.
      expect(await links()).toEqual([]);
      await lookUp('ct_withdrawable', 'Change or withdraw this choice');
      expect(await links()).toEqual(['https://shop.example/choices']);
      expect(await textOf('lookup-result')).toContain('all devices of the person’s account');
      if (process.env.SCREENSHOTS !== undefined)
        writeFileSync(join(process.env.SCREENSHOTS, 'served.png'), await page.screenshot());
      expect(await isHidden('lookup-receipt')).toBe(true);
      await lookUp(TOKEN, 'a time stamp covers it since 1 March 2026, 10:19 UTC; check the receipt to see whose.');
      expect(await isHidden('lookup-receipt')).toBe(false);
      await page.evaluate(`document.getElementById('lookup-receipt').click()`);
      await page.until(async () =>
        (await textOf('lookup-receipt-status')).startsWith('The receipt was given to the check'),
      );
      await page.until(async () => (await textOf('given-files')).includes(`receipt-${TOKEN}.json`));
      await lookUp('ct_imported', 'imported from House tool the decision');
      expect(await textOf('lookup-result')).toContain('of 1 May 2024, 08:00 UTC: stated by that tool.');
      await lookUp('ct_unknown', 'no record');
      await lookUp('cookie', 'any client can create one');
      await lookUp('ct_test_', 'no consent');
      await page.evaluate(`location.hash = '${TOKEN}'`);
      await page.until(async () => (await textOf('lookup-result')).includes('On record'));
      expect(asked).toEqual([
        'ct_known',
        'ct_withdrawable',
        TOKEN,
        'ct_imported',
        'ct_unknown',
        'cookie',
        'ct_test_',
        TOKEN,
      ]);
      const violations = page.events('Log.entryAdded').filter((event) => JSON.stringify(event).includes('Policy'));
      expect(violations).toEqual([]);
      expect(page.events('Runtime.exceptionThrown')).toEqual([]);
    } finally {
      await page.close();
      rmSync(folder, { recursive: true });
    }
  },
);

test.skipIf(chromiumPath === undefined)(
  titleNeeding(
    'Chromium',
    chromiumPath !== undefined,
    'in Chromium: the answer to a link is there before the verifier, and stays if the verifier does not come',
  ),
  async () => {
    const page = await ChromiumPage.open(chromiumPath ?? '');
    const textOf = async (id: string) => String(await page.evaluate(`document.getElementById('${id}').innerText`));
    const held: string[] = [];
    page.on('Fetch.requestPaused', (event) => held.push(z.object({ requestId: z.string() }).parse(event).requestId));
    try {
      await page.send('Network.setCacheDisabled', { cacheDisabled: true });
      await page.send('Fetch.enable', { patterns: [{ urlPattern: '*/verify-page.js*' }] });
      for (const outcome of ['continueRequest', 'failRequest']) {
        await page.send('Page.navigate', { url: `${origin}/verify?${outcome}#${TOKEN}` });
        await page.until(async () => (await page.evaluate(`document.querySelector('.answered') !== null`)) === true);
        expect(await textOf('lookup-result')).toContain('On record: accepted');
        // It speaks the language of the reader, and offers nothing that needs the verifier.
        await page.evaluate(`document.getElementById('language-tr').click()`);
        expect(await textOf('lookup-result')).toContain('Kayıtlı: kabul edildi');
        expect(await page.evaluate(`document.getElementById('lookup-receipt').hidden`)).toBe(true);
        await page.until(async () => held.length > 0);
        const [requestId] = held.splice(0);
        await page.send(`Fetch.${outcome}`, {
          requestId,
          ...(outcome === 'failRequest' && { errorReason: 'ConnectionClosed' }),
        });
        const [place, text] =
          outcome === 'continueRequest'
            ? ['lookup-receipt-status', 'Makbuz aşağıdaki denetime verildi']
            : ['status', 'Sayfayı yeniden yükleyin'];
        await page.until(async () => (await textOf(place)).includes(text));
        expect(await textOf('lookup-result')).toContain('Kayıtlı: kabul edildi');
      }
    } finally {
      await page.close();
    }
  },
);

test.skipIf(chromiumPath === undefined)(
  titleNeeding(
    'Chromium',
    chromiumPath !== undefined,
    'in Chromium: it takes a file from the page of its origin that opened it alone',
  ),
  async () => {
    // Without the header by which the service cuts the page off from openers of other origins.
    const html = await (await fetch(`${origin}/verify`)).text();
    const script = await (await fetch(`${origin}/verify/verify-page.js`)).text();
    const bare = createServer(({ url }, response) => {
      if (url?.startsWith('/verify/') === true)
        return response.setHeader('content-type', 'text/javascript').end(script);
      return response.setHeader('content-type', 'text/html').end(url === '/verify' ? html : '<!doctype html>');
    }).listen(0, '127.0.0.1');
    await once(bare, 'listening');
    const { port } = z.object({ port: z.int() }).parse(bare.address());
    const verify = `http://127.0.0.1:${port}/verify`;
    const page = await ChromiumPage.open(chromiumPath ?? '');
    try {
      for (const [host, taken] of [
        ['localhost', 0],
        ['127.0.0.1', 1],
      ]) {
        await page.goto(`http://${host}:${port}/`);
        await page.evaluate(`opened = window.open('${verify}'); true`, { userGesture: true });
        const session = await eventually(() => page.attachTo(verify));
        const inOpened = (expression: string) => page.evaluate(expression, { session });
        await page.until(async () => (await inOpened('document.readyState')) === 'complete');
        await inOpened(`heard = chosen = 0; addEventListener('message', () => { heard += 1; });
          document.getElementById('package').addEventListener('change', () => { chosen += 1; });`);
        await page.evaluate(`opened.postMessage(new File(['x'], 'handed.zip'), '*')`);
        await page.until(async () => Number(await inOpened('heard')) > 0);
        expect(await inOpened('chosen')).toBe(taken);
        await inOpened('close()').catch(() => undefined);
      }
    } finally {
      await page.close();
      bare.close();
    }
  },
);

test.skipIf(chromiumPath === undefined)(
  titleNeeding('Chromium', chromiumPath !== undefined, 'in Chromium: it has no violation by axe, light and dark'),
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'consent-verify-looks-'));
    const write = (name: string, content: string | Uint8Array): string => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const trust = [write('root.der', authority.root.der), write('ledger.key', LEDGER_KEY.verifierKey)];
    const honest = write('honest.zip', buildPackage(authority));
    const forged = write(
      'forged.zip',
      buildPackage(authority, {
        entryLines: (lines) =>
          lines.map((line) => ({ ...line, entry: String(line.entry).replace('"rejected"', '"accepted"') })),
      }),
    );
    const phone = { width: 375, height: 812, deviceScaleFactor: 1, mobile: true };
    const page = await ChromiumPage.open(chromiumPath ?? '');
    const folderOfShots = process.env.SCREENSHOTS;
    const violations = (name: string) =>
      violationsOf(page, name, async (scheme) => {
        if (folderOfShots !== undefined)
          writeFileSync(join(folderOfShots, `verify-${name}-${scheme}.png`), await page.screenshot());
      });
    const textOf = (selector: string) => page.evaluate(`document.querySelector('${selector}').innerText`);
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const check = async (files: readonly string[], status: string) => {
      await page.goto(`${origin}/verify`);
      await page.evaluate(`document.getElementById('at').value = '${VERIFIED_AT.toISOString().slice(0, 19)}'`);
      await page.dropFiles(300, 300, files);
      await page.until(async () =>
        String(await page.evaluate(`document.getElementById('status').innerText`)).startsWith(`Checked: ${status}.`),
      );
      await page.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = true; })`);
    };
    try {
      await page.goto(`${origin}/verify`);
      expect(await violations('empty')).toEqual([]);
      const light = await background();
      await setAppearance(page, 'dark');
      expect(await background()).not.toBe(light);
      await page.send('Emulation.setEmulatedMedia', {
        media: 'print',
        features: [{ name: 'prefers-color-scheme', value: 'dark' }],
      });
      expect(await background()).toBe('rgb(255, 255, 255)');
      expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(22, 32, 26)');
      await page.send('Emulation.setEmulatedMedia', { media: '' });

      await check([...trust, honest], 'valid');
      await page.evaluate(`document.querySelector('.records button').click()`);
      await page.until(
        async () => (await page.evaluate(`document.querySelector('#record article') !== null`)) === true,
      );
      expect(await violations('valid')).toEqual([]);
      await check([...trust, forged], 'invalid');
      expect(await violations('invalid')).toEqual([]);
      await check([honest], 'indeterminate');
      expect(await violations('indeterminate')).toEqual([]);
      // Another ledger of the same key: the two contradict each other.
      await check([...trust, honest, write('other.zip', buildPackage(fixtureAuthority()))], 'valid');
      expect(await textOf('#verdict')).toContain('Contradiction');
      expect(await violations('compared')).toEqual([]);
      await page.send('Emulation.setDeviceMetricsOverride', phone);
      expect(await violations('compared on a phone')).toEqual([]);
      await page.send('Emulation.clearDeviceMetricsOverride');
      await page.evaluate(`document.getElementById('token').value = '${TOKEN}'`);
      await page.evaluate(`document.getElementById('lookup').requestSubmit()`);
      await page.until(async () => (await page.evaluate(`document.getElementById('lookup-receipt').hidden`)) === false);
      await page.send('Emulation.setDeviceMetricsOverride', phone);
      // A phone shows a page that is too wide in a wider viewport: innerWidth grows with it.
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width);
      expect(await violations('phone')).toEqual([]);
    } finally {
      await page.close();
      rmSync(folder, { recursive: true });
    }
  },
);
