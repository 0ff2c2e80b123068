import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ChromiumPage, chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { hasOpenssl, startOpensslTsa } from '../../support/openssl-tsa.js';
import { TestInstallation } from '../../support/running-service.js';
import { cookieVersionOf, seedTenant } from '../../support/seeded-demo.js';
import { postSigned } from '../../support/signed-requests.js';

const DIST = fileURLToPath(new URL('../../../verifier-cli/dist/', import.meta.url));
const canRun = chromiumPath !== undefined && hasOpenssl && existsSync(join(DIST, 'consent-verify.html'));

describe.skipIf(!canRun)(titleNeeding('Chromium, openssl, or the built verifier,', canRun, 'a regulator'), () => {
  let folder: string;
  const file = (name: string) => join(folder, name);
  /** Runs the program that the regulator has, in the folder that holds nothing else. */
  const verify = (...args: readonly string[]) =>
    spawnSync(process.execPath, [file('consent-verify.js'), ...args], { encoding: 'utf8', cwd: folder, env: {} });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'consent-ledger-regulator-'));
    const authority = await startOpensslTsa({ key: 'P-256' });
    const installation = await TestInstallation.make({ TSA_URLS: authority.url, TSA_CA_FILE: authority.rootPemPath });
    try {
      const service = await installation.start();
      const demo = await seedTenant(installation);
      for (const decision of ['accepted', 'rejected', 'withdrawn'])
        await postSigned(service.url, demo.keys.write, '/tool/v1/consents', {
          consent_type: 'cookie',
          decision,
          categories: { necessary: true, analytics: decision === 'accepted', marketing: decision === 'accepted' },
          document_version_id: cookieVersionOf(demo),
          visitor_id: 'visitor-1',
          language: 'en',
        });
      const site = ['evidence', 'export', '--site', demo.site.id, '--output', file('evidence.zip'), '--wait'];
      expect((await installation.run(...site)).exitCode).toBe(0);
      // The key and root that the operator and the authority publish elsewhere. The regulator asks
      // for them later.
      await cp(demo.ledger_key, file('published-ledger.key'));
      await cp(authority.rootPemPath, file('published-root.pem'));
      await service.stop();
    } finally {
      await installation.remove();
      await authority.stop();
    }
    await cp(join(DIST, 'consent-verify.js'), file('consent-verify.js'));
    await cp(join(DIST, 'consent-verify.html'), file('consent-verify.html'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const trust = ['--ledger-key', 'published-ledger.key', '--tsa-ca', 'published-root.pem'];

  test('learns from the ZIP what is missing, whom to ask, and which file is the verifier', async () => {
    const { stdout: readme } = spawnSync('unzip', ['-p', file('evidence.zip'), 'README.txt'], { encoding: 'utf8' });
    const missing = 'ask the operator of the ledger “localhost/consent-ledger”';
    expect(readme.indexOf('This file alone proves nothing.')).toBeLessThan(readme.indexOf(missing));
    expect(readme).toContain(missing);
    const page = await readFile(file('consent-verify.html'));
    expect(readme).toContain(createHash('sha256').update(page).digest('hex'));
    const { status, stdout } = verify('check', 'evidence.zip');
    expect(status).toBe(3);
    const [first] = stdout.split('\n');
    expect(first).toMatch(/^INDETERMINATE.*This file alone proves nothing\. Missing: the key of the ledger \(ask/);
    expect(first).toContain('ask that authority: O=Consent Ledger Tests');
  });

  test('checks, lists and shows the records with the program, once key and root have come', () => {
    const checked = verify('check', 'evidence.zip', ...trust);
    expect([checked.status, checked.stdout.split(',')[0]]).toEqual([0, 'VALID']);
    expect(checked.stdout).toContain('contains these 3 records (1 accepted, 1 rejected, 1 withdrawn)');
    const listed = verify('list', 'evidence.zip', ...trust);
    const [token = ''] = /ct_[0-9a-f]{32}/.exec(listed.stdout) ?? [];
    expect(listed.stdout).toContain('3 consents of 3 in the package.');
    const shown = verify('show', 'evidence.zip', token, ...trust);
    expect([shown.status, shown.stdout.split(',')[0]]).toEqual([0, 'VALID']);
    expect(shown.stdout).toContain('Cookie policy, version 2');
    expect(shown.stdout).toContain('Demonstration Shop Ltd., privacy@shop.example');
  });

  test('checks the records with the page, from disk and without a network', async () => {
    const page = await ChromiumPage.open(chromiumPath ?? '');
    const textOf = async (selector: string) =>
      String(await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).innerText`));
    try {
      const network = { offline: true, latency: 0, downloadThroughput: 0, uploadThroughput: 0 };
      await page.send('Network.emulateNetworkConditions', network);
      await page.goto(pathToFileURL(file('consent-verify.html')).href);
      await page.dropFiles(300, 300, [file('evidence.zip')]);
      await page.until(async () => (await textOf('#status')).startsWith('Checked: '));
      expect(await textOf('#status')).toContain('This file alone proves nothing. Missing: the key of the ledger');
      await page.dropFiles(300, 300, [file('published-ledger.key'), file('published-root.pem')]);
      await page.until(async () => (await textOf('#status')).startsWith('Checked: valid'));
      expect(await textOf('#verdict .verdict')).toContain('None of these 3 records was changed after it was stamped');
      expect(await page.evaluate(`document.querySelectorAll('.records tbody tr').length`)).toBe(3);
      await page.evaluate(`document.querySelector('.records button').click()`);
      await page.until(
        async () => (await page.evaluate(`document.querySelector('#record article') !== null`)) === true,
      );
      expect(await textOf('#record .certificate')).toContain('Demonstration Shop Ltd.');
      expect(page.events('Runtime.exceptionThrown')).toEqual([]);
    } finally {
      await page.close();
    }
  });
});
