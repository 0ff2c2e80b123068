import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { VerificationReport, VerifyOptions } from '../../verifier-cli/src/index.js';
import { ChromiumPage, chromiumPath } from '../support/chromium.js';
import { fixtureAuthority, LEDGER_KEY, VERIFIED_AT } from '../support/ledger-fixture.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { verifyFixture } from './support.js';

const PAGE = fileURLToPath(new URL('../../verifier-cli/dist/consent-verify.html', import.meta.url));
const authority = fixtureAuthority();

test('the page is one file whose policy lets it load and send nothing', () => {
  const html = readFileSync(PAGE, 'utf8');
  const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(html)?.[1] ?? '';
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; connect-src 'none';/,
  );
  expect(policy).not.toContain('unsafe');
  const body = html.slice(html.indexOf('</script>'));
  expect(html.slice(0, html.indexOf('<script>')) + body).not.toMatch(/\b(?:src|href|action)=/);
  expect(body).toContain('MIT');
});

/** What is right, and what is wrong in one layer after the other. */
const PACKAGES: Readonly<Record<string, PackageHooks>> = {
  honest: {},
  'with leaves for proofs': { proofForm: 'leaves' },
  'after a rotation of the key': { rotateAt: 4 },
  'with a text that was changed': {
    signedFiles: (files) => {
      for (const name of files.keys()) if (name.startsWith('notices/')) files.set(name, new Uint8Array([65]));
    },
  },
  'with an entry that was changed': {
    entryLines: (lines) =>
      lines.map((line) => ({
        ...line,
        entry: String(line.entry).replace('"decision":"rejected"', '"decision":"accepted"'),
      })),
  },
  'with an entry left out': { entryLines: (lines) => lines.filter((_, i) => i !== 2) },
  'with a token by SHA-1': { token: () => ({ imprintHash: 'sha1' }) },
  'with a manifest signed by another ledger': { certificate: (note) => note.replace('ledger.example', 'ledger.other') },
  'with hostile names': {
    manifest: (manifest) => ({ ...manifest, exported_by: '<img src=x onerror=alert(1)>\u202e' }),
    signedFiles: (files) => files.set('<svg onload=alert(1)>', new Uint8Array()),
  },
  'cut short': { zip: (bytes) => bytes.map((octet, i) => (i === 900 ? octet ^ 0x55 : octet)) },
};

/** Outcomes and counts of every check, as a page shows them. */
const SHOWN = `[...document.querySelectorAll('#result table:not(:has(caption)) tbody tr')].map((row) => [
  row.querySelector('code').textContent,
  row.querySelector('.mark').textContent,
  row.lastElementChild.textContent,
].join(' '))`;

function expectedRows({ checks }: VerificationReport): string[] {
  const words = { pass: '✓ passed', fail: '✗ failed', indeterminate: '? open', 'not-applicable': '– not applicable' };
  return checks.map(({ id, outcome, counts }) => {
    const total = counts.pass + counts.fail + counts.indeterminate;
    return `${id} ${words[outcome]} ${total === 0 ? '' : `${counts.pass} of ${total}`}`;
  });
}

describe.skipIf(chromiumPath === undefined || !existsSync(PAGE))('in Chromium, from disk, without a network', () => {
  const folder = mkdtempSync(join(tmpdir(), 'consent-verify-page-'));
  const file = (name: string) => join(folder, name);
  let page: ChromiumPage;

  beforeAll(async () => {
    const pem = Buffer.from(authority.root.der).toString('base64').replace(/.{64}/g, '$&\n');
    writeFileSync(file('roots.pem'), `-----BEGIN CERTIFICATE-----\n${pem}\n-----END CERTIFICATE-----\n`);
    writeFileSync(file('ledger.key'), `${LEDGER_KEY.verifierKey}\n`);
    for (const [name, hooks] of Object.entries(PACKAGES))
      writeFileSync(file(`${name}.zip`), buildPackage(authority, hooks));
    page = await ChromiumPage.open(chromiumPath ?? '');
    await page.send('Network.emulateNetworkConditions', {
      offline: true,
      latency: 0,
      downloadThroughput: 0,
      uploadThroughput: 0,
    });
  });

  afterAll(async () => {
    await page?.close();
    rmSync(folder, { recursive: true });
  });

  beforeEach(async () => {
    await page.goto(pathToFileURL(PAGE).href);
    await page.evaluate(`document.getElementById('at').value = '${VERIFIED_AT.toISOString().slice(0, 19)}'`);
  });

  const status = () => page.evaluate(`document.getElementById('status').textContent`);
  const verdictOf = async () => {
    await page.until(async () => String(await status()).startsWith('Checked: '));
    return String(await status());
  };

  test.each(Object.entries(PACKAGES))('a package %s: verdict and outcomes of the command line', async (name, hooks) => {
    const expected = await verifyFixture(authority, buildPackage(authority, hooks));
    await page.dropFiles(300, 300, ['roots.pem', 'ledger.key', `${name}.zip`].map(file));
    expect(await verdictOf()).toBe(`Checked: ${expected.verdict}.`);
    expect(await page.evaluate(SHOWN)).toEqual(expectedRows(expected));
    expect(await page.evaluate(`document.querySelectorAll('img, svg, iframe, object, embed, link').length`)).toBe(0);
  });

  test('files chosen one after the other, a key that is typed; without them nothing is believed', async () => {
    await page.chooseFiles('#package', [file('honest.zip')]);
    const bare: Partial<VerifyOptions> = { trustAnchors: [], ledgerKeys: [] };
    const untrusted = await verifyFixture(authority, buildPackage(authority), bare);
    expect(await verdictOf()).toBe('Checked: indeterminate.');
    expect(await page.evaluate(SHOWN)).toEqual(expectedRows(untrusted));
    await page.chooseFiles('#roots', [file('roots.pem')]);
    await page.evaluate(`{
      const field = document.getElementById('keys-text');
      field.value = ${JSON.stringify(LEDGER_KEY.verifierKey)};
      field.dispatchEvent(new Event('change'));
    }`);
    await page.until(async () => (await status()) === 'Checked: valid.');
    expect(await page.evaluate(`document.querySelector('#result .verdict').textContent`)).toMatch(/^Valid/);
  });

  test('a file that is no package, and a key that is none, are told of', async () => {
    writeFileSync(file('rubbish.zip'), 'not a ZIP');
    await page.chooseFiles('#package', [file('rubbish.zip')]);
    await page.until(async () => (await status()) === 'The file is not a ZIP.');
    await page.evaluate(`document.getElementById('keys-text').value = 'rubbish'`);
    await page.evaluate(`document.getElementById('form').requestSubmit()`);
    await page.until(async () => String(await status()).includes('no verifier-key line'));
  });

  test('it asks for nothing, stores nothing, and breaks no rule of its policy', async () => {
    await page.dropFiles(300, 300, ['roots.pem', 'ledger.key', 'honest.zip'].map(file));
    expect(await verdictOf()).toBe('Checked: valid.');
    const requests = page
      .events('Network.requestWillBeSent')
      .map((event) => z.looseObject({ request: z.looseObject({ url: z.string() }) }).parse(event).request.url);
    expect(new Set(requests)).toEqual(new Set([pathToFileURL(PAGE).href]));
    expect(page.events('Log.entryAdded')).toEqual([]);
    expect(page.events('Runtime.exceptionThrown')).toEqual([]);
    expect(await page.evaluate('localStorage.length + sessionStorage.length + document.cookie.length')).toBe(0);
    const refused = await page.evaluate(
      `(() => { try { document.body.innerHTML = '<p>'; return false; } catch { return true; } })()`,
    );
    expect(refused).toBe(true);
  });

  test('it looks as it should', async () => {
    const folderOfShots = process.env.SCREENSHOTS;
    await page.dropFiles(300, 300, ['roots.pem', 'ledger.key', 'honest.zip'].map(file));
    expect(await verdictOf()).toBe('Checked: valid.');
    if (folderOfShots !== undefined) writeFileSync(join(folderOfShots, 'page.png'), await page.screenshot());
    const wide = await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth');
    expect(wide).toBe(true);
    const unlabelled = `[...document.querySelectorAll('input, textarea')].filter(
      (field) => field.labels.length === 0 && !field.hasAttribute('aria-label')).length`;
    expect(await page.evaluate(unlabelled)).toBe(0);
  });
});
