import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningApp, startApp } from '../api/server/running-app.js';
import { chromiumPath } from '../support/chromium.js';
import { startDnsServer, type TestDnsServer } from '../support/dns-server.js';
import { titleNeeding } from '../support/missing-tools.js';
import { PanelBrowser } from './panel-browser.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../dashboard/dist/index.html', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;

const FACTS = {
  'Legal name of the controller': 'Bakery Ltd',
  'Address of the controller': '2 Oven Street, Cork',
  'Contact for questions': 'privacy@bakery.example',
  'Data, cookies, purposes': 'Statistics: pages that you visit, by your consent.',
  Recipients: 'Nobody but the bakery.',
  Periods: 'Statistics: 30 days.',
  'Rights that people have': 'Write to us. You can complain to the Data Protection Commission.',
};

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built dashboard,', canRun, 'the guide to a new site'), () => {
  let dns: TestDnsServer;
  let app: RunningApp;
  let panel: PanelBrowser;

  beforeAll(async () => {
    dns = await startDnsServer();
    app = await startApp('serve', { DNS_SERVERS: dns.address });
    const demo = await app.seed();
    panel = await PanelBrowser.open(chromiumPath ?? '', app.url);
    await panel.visit('/sites');
    await panel.signIn(demo.panel_user.email, demo.panel_user.password);
    await panel.isAt('Sites');
  });
  afterAll(async () => {
    await panel?.close();
    await app?.stop();
    await dns?.close();
  });

  const focused = () => panel.page.evaluate('document.activeElement?.tagName');
  const headingHasFocus = () => panel.page.until(async () => (await focused()) === 'H1');

  test('begins with the site and its domain, and names what is wrong with them', async () => {
    await panel.press('Add a site');
    await panel.isAt('Your site and its domain');
    await headingHasFocus();
    expect(await panel.violations('wizard-site')).toEqual([]);
    await panel.type('Name', 'Bakery');
    await panel.type('Domain', '192.0.2.1');
    await panel.press('Continue');
    await panel.sees('Enter a domain, not an IP address.');
    expect(await focused()).toBe('INPUT');
    await panel.type('Domain', 'https://Bakery.example/');
    await panel.press('Continue');
    await panel.sees('_consent-ledger.bakery.example');
    expect(await panel.violations('wizard-domain')).toEqual([]);
  });

  test('asks for every fact; what was typed is there after the page was left', async () => {
    await panel.press('Continue');
    await panel.isAt('What your policy states');
    await headingHasFocus();
    for (const [label, text] of Object.entries(FACTS)) {
      expect(await panel.valueOf(label)).toBe('');
      await panel.type(label, text);
    }
    await panel.type('Periods', 'See [[periods: later]].');
    await panel.tick('Necessary');
    await panel.tick('Statistics');
    // Nothing asks, because nothing is lost.
    await panel.press('Overview');
    await panel.isAt('Overview');
    await panel.press('Sites');
    await panel.press('Bakery');
    await panel.isAt('Bakery');
    await panel.press('Continue with the guide');
    await panel.isAt('Your site and its domain');
    await panel.press('Policy');
    await panel.isAt('What your policy states');
    for (const [label, text] of Object.entries(FACTS)) {
      expect(await panel.valueOf(label)).toBe(label === 'Periods' ? 'See [[periods: later]].' : text);
    }
    expect(await panel.violations('wizard-policy')).toEqual([]);
    await panel.press('Continue');
    await panel.sees('Fill in the gaps of the text first: [[periods: later]]');
    expect(await focused()).toBe('TEXTAREA');
    expect(await panel.violations('wizard-gap')).toEqual([]);
    await panel.type('Periods', FACTS.Periods);
  });

  test('shows the banner of the chosen languages', async () => {
    await panel.press('Continue');
    await panel.isAt('Languages and look of the banner');
    await headingHasFocus();
    await panel.tick('Turkish');
    await panel.sees('Chosen: English and Turkish');
    await panel.choose('Layout', 'Dialog in the middle');
    await panel.choose('Language of the preview', 'Turkish');
    expect(await panel.violations('wizard-banner')).toEqual([]);
    await panel.press('Continue');
  });

  test('publishes nothing before the domain is proved, and goes on where a press failed', async () => {
    await panel.isAt('Check and publish');
    await panel.sees('The domain is not proved yet.');
    expect(await panel.offers('Publish and confirm the texts')).toBe(false);
    expect(await panel.violations('wizard-unproved')).toEqual([]);
    const [value = ''] = /consent-ledger-verification=[\w-]+/.exec(await panel.text()) ?? [];
    dns.records.set('_consent-ledger.bakery.example', [[value]]);
    await panel.press('Verify the domain');
    await panel.sees('No native speaker has confirmed the default texts and labels in: Turkish.');
    expect(await panel.violations('wizard-publish')).toEqual([]);
    await panel.page.send('Network.setBlockedURLs', { urls: ['*/configuration/publish'] });
    await panel.press('Publish and confirm the texts');
    await panel.sees('Could not publish the banner.');
    await panel.sees('The service did not answer.');
    expect(await panel.page.evaluate(`document.activeElement?.getAttribute('role')`)).toBe('alert');
    expect(await panel.violations('wizard-failed')).toEqual([]);
    await panel.page.send('Network.setBlockedURLs', { urls: [] });
    await panel.press('Publish and confirm the texts');
    await panel.isAt('Put the banner on your pages');
    await headingHasFocus();
    await panel.sees('data-api-key="svc_live_');
    await panel.sees('Waiting for the first consent.');
    expect(await panel.violations('wizard-done')).toEqual([]);
  });

  test('made nothing twice, and the checklist agrees', async () => {
    await panel.press('Sites');
    await panel.press('Bakery');
    await panel.isAt('Bakery');
    await panel.sees('Open your page and choose in the banner.');
    await panel.doesNotSee('Continue with the guide');
    // The words before it are on the page before its list is.
    const rows = `document.querySelectorAll('main tbody tr').length`;
    const hasOneRow = () => panel.page.until(async () => (await panel.page.evaluate(rows)) === 1);
    const site = String(await panel.page.evaluate(`/sites\\/([^/]+)/.exec(location.pathname)[1]`));
    await panel.visit(`/sites/${site}/documents`);
    await panel.press('cookie-policy');
    await panel.sees('In force');
    await hasOneRow();
    await panel.visit(`/sites/${site}/api`);
    await panel.sees('bakery.example');
    await hasOneRow();
    expect(await panel.violations('keys-of-wizard')).toEqual([]);
    await panel.visit(`/sites/${site}/banner`);
    await panel.sees('Version 1 is in force.');
    await panel.sees('The draft is the same as the version in force.');
    expect(await panel.violations('banner-of-wizard')).toEqual([]);
  });

  test('speaks Turkish', async () => {
    await panel.prefer('Language', 'Türkçe');
    await panel.isAt('Bant');
    await panel.visit('/sites/new');
    await panel.isAt('Siteniz ve alan adı');
    await panel.type('Ad', 'Fırın');
    await panel.type('Alan adı', 'firin.example');
    await panel.press('Devam et');
    await panel.sees('_consent-ledger.firin.example');
    await panel.press('Devam et');
    await panel.isAt('Politikanızda yazanlar');
    expect(await panel.violations('wizard-policy-tr')).toEqual([]);
    // The side bar has a link of the same name.
    await panel.page.evaluate(`document.querySelector('.wizard-steps li:nth-child(3) a').click()`);
    await panel.isAt('Bandın dilleri ve görünümü');
    expect(await panel.violations('wizard-banner-tr')).toEqual([]);
    await panel.page.evaluate(`document.querySelector('.wizard-steps li:nth-child(4) a').click()`);
    await panel.isAt('Gözden geçir ve yayımla');
    await panel.sees('Politikada ve bantta şu bilgiler eksik: Veri sorumlusunun yasal adı');
    expect(await panel.violations('wizard-publish-tr')).toEqual([]);
  });
});
