import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConsentLedger } from '../../../sdk/node/src/consent-ledger.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { ChromiumPage, chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { hasWordPress, WordPressSite } from './wordpress-site.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../sdk/browser/dist/gate.js', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt && (await hasWordPress());
const TOOLS = 'Chromium, the built SDK, or WordPress with PHP and MariaDB';
const VIDEO = 'https://www.youtube.com/embed/M7lc1UVf-VE?feature=oembed';

describe.skipIf(!canRun)(titleNeeding(TOOLS, canRun, 'the plugin for WordPress'), () => {
  let site: WordPressSite;
  let app: RunningApp;
  let demo: SeededDemo;
  let page: ChromiumPage;
  beforeAll(async () => {
    site = await WordPressSite.open();
    app = await startApp('serve');
    demo = await app.seed({ allowedOrigins: [site.origin] });
    page = await ChromiumPage.open(chromiumPath ?? '', ['--host-resolver-rules=MAP *.youtube.com ~NOTFOUND']);
  });
  afterAll(async () => {
    await page?.close();
    await app?.stop();
    await site?.close();
  });

  const ask = (expression: string) => page.evaluate(expression);
  const frame = (attribute: string) => ask(`document.querySelector('iframe').getAttribute('${attribute}')`);
  const open = async (path: string) => {
    await page.goto(site.origin + path);
  };
  /** Sends the form of the page, and waits for the page that answers. */
  const submit = async (fields: Readonly<Record<string, string | boolean>>, form = 'form') => {
    const before = page.events('Page.loadEventFired').length;
    await ask(`{
      const form = document.querySelector('${form}');
      for (const [name, value] of Object.entries(${JSON.stringify(fields)})) {
        const field = form.elements.namedItem(name);
        if (typeof value === 'boolean') field.checked = value; else field.value = value;
      }
      form.querySelector('[type=submit]').click();
    }`);
    await page.until(async () => page.events('Page.loadEventFired').length > before);
  };
  const errors = () => ask(`[...document.querySelectorAll('.settings-error')].map((one) => one.textContent.trim())`);
  const value = (name: string) => ask(`document.querySelector('[name="consent_ledger[${name}]"]').value`);

  test('before it is set up, a page is as without it', async () => {
    await open('/?p=1');
    expect(await frame('src')).toBe(VIDEO);
    expect(await ask(`document.querySelector('script[data-api-key]')`)).toBeNull();
    expect(await ask(`document.querySelector('footer').children.length`)).toBe(0);
  });

  test('settings are for administrators, by the form alone, and refuse what is not valid', async () => {
    await open('/wp-login.php');
    await submit({ log: 'owner', pwd: 'owner' }, '#loginform');
    await open('/wp-admin/options-general.php?page=consent-ledger');
    await submit(
      {
        'consent_ledger[service]': 'https://consent.example/"><script>',
        'consent_ledger[key]': 'svc_live_"onload="x',
        'consent_ledger[category]': '',
      },
      'form[action="options.php"]',
    );
    expect(await errors()).toEqual([
      expect.stringContaining('Enter the origin of the service'),
      expect.stringContaining('Enter a whole key'),
      expect.stringContaining('Enter the key of a category'),
    ]);
    expect([await value('service'), await value('key'), await value('category')]).toEqual(['', '', 'marketing']);
    // Without the nonce of the form, as a page of a stranger would send it.
    expect(
      await ask(
        `fetch('options.php', { method: 'POST', body: new URLSearchParams({ option_page: 'consent_ledger', action: 'update', 'consent_ledger[service]': 'https://evil.example' }) }).then(({ status }) => status)`,
      ),
    ).toBe(403);
    await submit(
      {
        'consent_ledger[service]': `${app.url}/`,
        'consent_ledger[key]': demo.keys.write,
        'consent_ledger[google]': true,
      },
      'form[action="options.php"]',
    );
    expect([await value('service'), await value('key')]).toEqual([app.url, demo.keys.write]);
  });

  test('the banner comes first, a video waits, and loads once the visitor permits it; the choice is recorded', async () => {
    await page.send('Network.clearBrowserCookies');
    await open('/?p=1');
    await page.until(async () => (await ask(`window.consentLedger?.consent.state.status`)) === 'needed');
    await ask('consentLedger.banner.then(() => true)');
    expect(await ask(`document.querySelector('script[src]').src`)).toBe(`${app.url}/sdk/consent.js`);
    // The first tag of the theme sees the defaults.
    expect(await ask('firstTag')).toContain('"ad_storage":"denied"');
    expect(await ask(`document.querySelector('consent-banner').shadowRoot.querySelector('section') !== null`)).toBe(
      true,
    );
    expect([await frame('src'), await frame('data-consent-src'), await frame('data-consent')]).toEqual([
      null,
      VIDEO,
      'marketing',
    ]);
    const placeholder = `document.querySelector('consent-placeholder')?.shadowRoot.textContent ?? ''`;
    await expect.poll(() => ask(placeholder)).toContain('YouTube (Google Ireland)');
    expect(await ask(placeholder)).toContain('Our garden in June');

    await ask(`document.querySelector('footer [data-consent-settings]').click()`);
    const accept = `document.querySelector('consent-banner').shadowRoot.querySelector('dialog[open] [part=accept]')`;
    await page.until(async () => (await ask(`${accept} !== null`)) === true);
    await ask(`${accept}.click()`);
    await expect.poll(() => frame('src')).toBe(VIDEO);
    expect(await ask(`dataLayer.some((one) => one[1] === 'update' && one[2].ad_storage === 'granted')`)).toBe(true);
    await page.until(async () => String(await ask('document.cookie')).includes('consent_token'));
    const visitor_id = String(await ask(`JSON.parse(localStorage['_svc_consent:visitor'])`));
    const ledger = new ConsentLedger({ baseUrl: app.url, apiKey: demo.keys.write, user: demo.api_user });
    const decisions: string[] = [];
    for await (const record of ledger.exportRecords({ visitor_id })) decisions.push(record.decision);
    expect(decisions).toEqual(['accepted']);

    await open('/?p=1');
    await expect.poll(() => frame('src')).toBe(VIDEO);
    await open('/?feed=rss2');
    expect(await ask(`document.documentElement.outerHTML.includes('youtube.com/embed')`)).toBe(false);
  });

  test('what a provider answers that the plugin does not understand becomes a link, and its shortcodes stay text', async () => {
    await open('/?name=july');
    expect(await ask(`document.querySelector('h1').textContent`)).toBe('July');
    expect(await ask(`document.querySelectorAll('iframe, audio, [data-consent-src]').length`)).toBe(0);
    expect(await ask(`document.querySelector('p a').href`)).toBe('https://www.youtube.com/watch?v=hostile');
    const text = await ask(`[...document.querySelectorAll('p[title]')].map((one) => one.title + one.textContent)[0]`);
    expect(text).toMatch(/^\[audio .*\]\[audio .*\]$/);
  });
});
