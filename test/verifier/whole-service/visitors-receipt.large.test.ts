import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { TCString } from '@iabtechlabtcf/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { DEMO_CONFIG } from '../../../src/demo/seed/demo-texts.js';
import { Shop } from '../../sdk/browser/shop.js';
import { Visitor } from '../../sdk/browser/visitor.js';
import { inventedVendorList } from '../../sdk/iab/vendor-list.js';
import { violationsOf } from '../../support/axe.js';
import { chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { hasOpenssl, type OpensslTsa, startOpensslTsa } from '../../support/openssl-tsa.js';
import { type RunningService, TestInstallation } from '../../support/running-service.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../sdk/browser/dist/consent.js', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt && hasOpenssl;
const DIST = fileURLToPath(new URL('../../../verifier-cli/dist/', import.meta.url));
const { SHOTS } = process.env;
const VENDOR_LIST = JSON.stringify(inventedVendorList(120, [2, 10, 28]));
const TCF = {
  cmp_id: 300,
  cmp_version: 2,
  publisher_country: 'DE',
  vendor_list: { version: 120, sha256: createHash('sha256').update(VENDOR_LIST).digest('hex') },
  vendors: [2, 10, 28],
  purposes: { analytics: [7, 8], marketing: [1, 3, 4] },
  special_features: { marketing: [1] },
};
/** A script of an advertiser, which keeps what it hears. */
const LISTENS = `window.heard = []; __tcfapi('addEventListener', 2, ({ eventStatus, gdprApplies, tcString }) => heard.push([eventStatus, gdprApplies, tcString]));`;
const SeededDemo = z.looseObject({
  keys: z.looseObject({ write: z.string() }),
  site: z.looseObject({ id: z.string() }),
});

describe.skipIf(!canRun)(titleNeeding('Chromium, openssl, or the built SDK,', canRun, 'a visitor'), () => {
  let authority: OpensslTsa;
  let installation: TestInstallation;
  let service: RunningService;
  let shop: Shop;
  let visitor: Visitor;
  let downloads: string;
  let lists: string;
  let siteId: string;
  let steps: string[] = [];
  let tcString: string;

  beforeAll(async () => {
    downloads = await mkdtemp(join(tmpdir(), 'consent-ledger-downloads-'));
    authority = await startOpensslTsa({ key: 'P-256' });
    lists = await mkdtemp(join(tmpdir(), 'consent-ledger-vendor-lists-'));
    await writeFile(join(lists, 'vendor-list.json'), VENDOR_LIST);
    const iab = { IAB_VENDOR_LISTS: lists };
    installation = await TestInstallation.make({ ...iab, TSA_URLS: authority.url, TSA_CA_FILE: authority.rootPemPath });
    service = await installation.start();
    shop = await Shop.open();
    const demo = SeededDemo.parse(await installation.json('admin', 'seed-demo', '--allowed-origin', shop.origin));
    siteId = demo.site.id;
    await installation.run('admin', 'site', 'verify', siteId);
    const config = join(downloads, 'config.json');
    await writeFile(config, JSON.stringify({ ...DEMO_CONFIG, iab: { tcf: TCF } }));
    const published = await installation.run('admin', 'site', 'configure', siteId, '--file', config);
    await rm(config);
    expect(published.exitCode).toBe(0);
    shop.use(service.url, demo.keys.write);
    visitor = await Visitor.start(chromiumPath ?? '', shop);
  });
  afterAll(async () => {
    await visitor?.page.close();
    await shop?.close();
    await service?.stop();
    await installation?.remove();
    await authority?.stop();
    if (lists !== undefined) await rm(lists, { recursive: true, force: true });
    if (downloads !== undefined) await rm(downloads, { recursive: true, force: true });
  });

  const textOf = async (selector: string): Promise<string> =>
    z.string().parse(await visitor.page.evaluate(`document.querySelector(${JSON.stringify(selector)}).innerText`));
  const sees = async (selector: string, text: string): Promise<void> => {
    await expect.poll(() => textOf(selector), { interval: 50 }).toContain(text);
  };
  /** Presses a button of the page by its text. */
  const press = async (name: string): Promise<void> => {
    steps.push(name);
    const found = `[...document.querySelectorAll('button')].find((one) => one.checkVisibility() && one.textContent === ${JSON.stringify(name)})`;
    await visitor.page.until(async () => (await visitor.page.evaluate(`${found} !== undefined`)) === true);
    await visitor.page.evaluate(`${found}.click()`, { userGesture: true });
  };
  const looksRight = async (name: string): Promise<void> => {
    const shoot = async (look: string) => {
      if (SHOTS !== undefined) await writeFile(join(SHOTS, `${name}-${look}.png`), await visitor.page.screenshot());
    };
    expect(await violationsOf(visitor.page, name, shoot)).toEqual([]);
  };

  test('goes from the banner to the proof of the choice, without a key, a program or help', async () => {
    const { page } = visitor;
    await visitor.visit({ before: ['iab-stub', LISTENS] });
    const heard = async () =>
      z.array(z.tuple([z.string(), z.boolean(), z.string()])).parse(await page.evaluate('heard'));
    // Nothing is told before the visitor decides, except that she is asked, by a string without any consent.
    const [asked] = await heard();
    expect(await heard()).toEqual([['cmpuishown', true, expect.any(String)]]);
    expect([...TCString.decode(asked?.[2] ?? '').purposeConsents].filter(([, isGiven]) => isGiven)).toEqual([]);
    steps = ['accept all'];
    await visitor.click('accept');
    await visitor.acceptedToken();
    expect(await heard()).toEqual([
      asked,
      ['useractioncomplete', true, expect.stringMatching(/^C[\w-]+(?:\.[\w-]+)+$/)],
    ]);
    tcString = (await heard())[1]?.[2] ?? '';
    const vendors = [...TCString.decode(tcString).vendorConsents].filter(([, isGiven]) => isGiven);
    expect(vendors.map(([id]) => id)).toEqual(TCF.vendors);
    // A later page tells the same.
    await visitor.visit({ before: ['iab-stub', LISTENS] });
    await page.until(async () => (await heard()).length > 0);
    expect(await heard()).toEqual([['tcloaded', true, tcString]]);

    steps.push('open the settings');
    await page.evaluate('consentLedger.banner.then((banner) => banner.openSettings())');
    const link = z.string().parse(await visitor.inBanner(`banner.querySelector('dialog [part=proof]').href`));
    expect(link).toBe(`${service.url}/verify#${await visitor.acceptedToken()}`);
    expect(await visitor.inBanner(`banner.querySelector('dialog [part=proof]').textContent`)).toBe(
      'Look up the recorded choice (new tab)',
    );

    steps.push('follow “Proof”');
    await page.goto(link);
    await sees('#lookup-result', 'On record: accepted');
    // The page checks the receipt by itself. It exists once a time stamp covers the record.
    await expect
      .poll(
        async () => {
          const said = await textOf('#lookup-receipt-status');
          if (said.startsWith('The record has no time stamp yet')) await press('Check the receipt of this record');
          return said;
        },
        { interval: 250 },
      )
      .toContain('The receipt was given to the check');
    // The operator's own key proves nothing against the operator, and the verdict says so.
    await sees('#status', 'Checked: consistent with what the operator publishes.');
    await sees('#published-trust-note', 'no proof against the service itself');
    await sees('#lookup-text', 'We count visits and show advertisements only if you agree.');
    await sees('#lookup-text', 'Cookie policy, version 2');
    // The answer begins the window, and nothing is wider than it, even with all details open.
    expect(await page.evaluate('scrollY')).toBe(0);
    expect(await page.evaluate(`document.querySelector('main').firstElementChild.id`)).toBe('lookup-section');
    expect(await page.evaluate(`document.getElementById('inputs').open`)).toBe(false);
    const closed = 'document.querySelectorAll("details:not([open])")';
    await page.evaluate(`opened = [...${closed}]; opened.forEach((one) => { one.open = true; })`);
    for (const width of [320, 390]) {
      const metrics = { width, height: 844, deviceScaleFactor: 1, mobile: true };
      await page.send('Emulation.setDeviceMetricsOverride', metrics);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    }
    await page.send('Emulation.clearDeviceMetricsOverride');
    await page.evaluate('opened.forEach((one) => { one.open = false; })');
    // One step leads to keys of one’s own.
    await press('Check with a key and roots of my own');
    expect(await page.evaluate('document.activeElement.id')).toBe('keys-text');
    steps.pop();
    await sees('#record .certificate', 'What this file states, without proof');
    const certificate = await textOf('#record .certificate');
    expect(certificate).toContain('accepted (cookie: “Statistics” yes, “Advertising” yes, “Necessary” yes)');
    expect(certificate).toMatch(/Text shown\s+Cookie policy, version 2, language en, published on/);
    expect(certificate).toMatch(/Existed by\s+\d+ \w+ \d{4}, \d\d:\d\d UTC/);
    expect(certificate).toContain('Demonstration Shop Ltd.');
    await sees('#record', 'We count visits and show advertisements only if you agree.');
    // While no time stamp covers the record, one of them is repeated.
    expect(new Set(steps).size).toBeLessThanOrEqual(4);
    await looksRight('proved');

    // The link of the dashboard opens the certificate for print, without personal values.
    const print = `window.print = () => { printed = document.getElementById('certificate').textContent; }`;
    await page.send('Page.addScriptToEvaluateOnNewDocument', { source: print });
    await page.goto('about:blank');
    await page.goto(`${link}&certificate`);
    const printed = expect.poll(() => page.evaluate(`globalThis.printed ?? ''`), { interval: 50 });
    await printed.toContain('Certificate of a consent record');
    await printed.toContain('not stated in public receipts');
  });

  test('keeps the receipt as a file, and drops it later: it says the same', async () => {
    const { page } = visitor;
    await page.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: downloads });
    await press('Save the receipt as a file');
    await sees('#lookup-receipt-status', 'The receipt was saved.');
    await expect.poll(() => readdirSync(downloads)).toEqual([expect.stringMatching(/^receipt-ct_[0-9a-f]{32}\.json$/)]);
    const [name = ''] = readdirSync(downloads);

    await page.goto(`${service.url}/verify`);
    await page.dropFiles(300, 300, [join(downloads, name)]);
    await sees('#status', 'Checked: indeterminate.');
    await looksRight('unproved');
    await press('Check with the key and the roots that this service publishes');
    await sees('#status', 'Checked: consistent with what the operator publishes.');
    await sees('#record .certificate', 'Cookie policy, version 2');

    // In Turkish as well.
    await press('Türkçe');
    await sees('#published-trust-note', 'hizmetin kendisine karşı kanıt değildir');
    await looksRight('proved-tr');
  });

  test('sees that a receipt was altered, and is offered no key for it', async () => {
    const { page } = visitor;
    const [name = ''] = readdirSync(downloads);
    const altered = join(downloads, 'altered.json');
    const receipt = await (await fetch(`${service.url}/api/v1/public/consents/${name.slice(8, -5)}/receipt`)).text();
    const changed = receipt.replace('accepted', 'rejected');
    await writeFile(altered, changed);
    await page.goto(`${service.url}/verify`);
    await page.dropFiles(300, 300, [altered]);
    await sees('#status', 'Checked: invalid.');
    expect(changed).not.toBe(receipt);
    expect(await page.evaluate(`document.getElementById('published-trust').hidden`)).toBe(true);
  });

  test('the banner that the visitor saw is drawn from an evidence package, offline, with the button that was used', async () => {
    const { page } = visitor;
    const file = join(downloads, 'evidence.zip');
    const disclosed = ['--disclose', 'presentation,iab', '--output', file, '--wait'];
    expect((await installation.run('evidence', 'export', '--site', siteId, ...disclosed)).exitCode).toBe(0);
    const offline = (isOffline: boolean) =>
      page.send('Network.emulateNetworkConditions', {
        offline: isOffline,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput: -1,
      });
    await offline(true);
    await page.goto(pathToFileURL(join(DIST, 'consent-verify.html')).href);
    await page.dropFiles(300, 300, [file]);
    await sees('#status', 'Checked: ');
    await page.evaluate(`document.querySelector('.records button').click()`);
    await sees('#record', 'The question, drawn');
    await sees(
      '#record .certificate',
      'The banner had the layout “bar” (version 3). The theme was “default”. The person decided in the first view.',
    );
    await sees(
      '#record .certificate',
      'It says: purposes 1, 3, 4, 7, 8; special features 1; 3 vendors of the vendor list 120.',
    );
    await sees('#record .certificate', 'This record and the sealed configuration say the same of');
    await sees('#record', tcString);
    const drawn = (expression: string) =>
      page.evaluate(`((drawn) => ${expression})(document.querySelector('#record .drawing').shadowRoot)`);
    expect(await drawn(`drawn.querySelector('h2').textContent`)).toBe('Your choice');
    expect(await drawn(`[...drawn.querySelectorAll('[data-used]')].map((one) => one.textContent)`)).toEqual([
      'Accept all',
    ]);
    expect(await drawn(`getComputedStyle(drawn.querySelector('[data-used]')).outlineStyle`)).toBe('solid');
    expect(await drawn(`[...drawn.querySelectorAll('button, select')].every(({ disabled }) => disabled)`)).toBe(true);
    await looksRight('drawn');

    // The same on paper: one HTML file, whose policy lets no script run.
    const token = await page.evaluate(`document.querySelector('#record header code').textContent`);
    const html = join(downloads, 'record.html');
    const shown = spawnSync(process.execPath, [
      join(DIST, 'consent-verify.js'),
      'show',
      file,
      String(token),
      '--html',
      html,
    ]);
    expect(String(shown.stderr)).toBe('');
    await page.goto(pathToFileURL(html).href);
    expect(
      await page.evaluate(
        `getComputedStyle(document.querySelector('.drawing').shadowRoot.querySelector('[data-used]')).outlineStyle`,
      ),
    ).toBe('solid');
    await looksRight('drawn-paper');
    await offline(false);
    await rm(file);
    await rm(html);
  });
});
