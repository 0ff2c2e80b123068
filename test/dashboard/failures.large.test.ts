import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningApp, startApp } from '../api/server/running-app.js';
import { setAppearance } from '../support/axe.js';
import { chromiumPath } from '../support/chromium.js';
import { titleNeeding } from '../support/missing-tools.js';
import { postSigned } from '../support/signed-requests.js';
import { PanelBrowser } from './panel-browser.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../dashboard/dist/index.html', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;

describe.skipIf(!canRun)(
  titleNeeding('Chromium, or the built dashboard,', canRun, 'what fails in the dashboard'),
  () => {
    let app: RunningApp;
    let panel: PanelBrowser;
    beforeAll(async () => {
      app = await startApp('serve');
      const demo = await app.seed();
      await postSigned(app.url, demo.keys.write, '/tool/v1/consents', {
        consent_type: 'cookie',
        decision: 'partial',
        categories: { necessary: true, analytics: true, marketing: false },
        document_version_id:
          demo.documents
            .find(({ slug }) => slug === 'cookie-policy')
            ?.versions.find(({ state, language }) => state === 'active' && language === 'en')?.id ?? '',
        visitor_id: 'visitor-1',
        language: 'en',
      });
      panel = await PanelBrowser.open(chromiumPath ?? '', app.url);
      await panel.visit('/sites');
      await panel.signIn(demo.panel_user.email, demo.panel_user.password);
      await panel.isAt('Sites');
    });
    afterAll(async () => {
      await panel?.close();
      await app?.stop();
    });

    test('is told of a refused clipboard, and of files that are gone after a deployment', async () => {
      const reloadedBy = async (press: () => Promise<void>): Promise<void> => {
        const loads = () => panel.page.events('Page.loadEventFired').length;
        const before = loads();
        await press();
        await panel.page.until(async () => loads() > before);
      };
      await panel.visit('/sites');
      await panel.press('Demonstration shop');
      await panel.press('API & Integrations');
      await panel.page.evaluate(`navigator.clipboard.writeText = () => Promise.reject(new DOMException('refused'))`);
      await panel.press('Copy: On your pages');
      await panel.sees('The browser did not permit copying.');
      expect(await panel.violations('copy-refused')).toEqual([]);

      await panel.page.send('Network.setBlockedURLs', { urls: ['*/panel/assets/tr-*', '*/panel/assets/plan-*'] });
      await panel.openAccount();
      await panel.choose('Language', 'Türkçe');
      await panel.sees('The texts of this language could not be loaded.');
      await panel.escape();
      // The page loads itself again once, which helps where a deployment replaced it.
      await reloadedBy(() => panel.press('Plan and usage'));
      await panel.isAt('The page could not be shown');
      expect(await panel.violations('page-failed')).toEqual([]);
      await panel.page.send('Network.setBlockedURLs', { urls: [] });
      await reloadedBy(() => panel.press('Load the page again'));
      await panel.isAt('Plan and usage');
    });

    const ends = () => panel.page.evaluate(`window.dispatchEvent(new Event('beforeunload', { cancelable: true }))`);

    test('the end of the tab asks while something typed is not saved', async () => {
      await panel.visit('/sites');
      await panel.press('Demonstration shop');
      await panel.press('API & Integrations');
      await panel.press('Create a key');
      await panel.type('Name', 'A further backend');
      expect(await ends()).toBe(false);
      await panel.press('Cancel');
      await panel.isAt('API & Integrations');
      expect(await ends()).toBe(true);
    });

    test('the way back and the end of the tab ask while a new key is shown', async () => {
      await panel.visit('/sites');
      await panel.press('Demonstration shop');
      await panel.press('API & Integrations');
      await panel.isAt('API & Integrations');
      await panel.press('Create a key');
      await panel.type('Name', 'backend');
      await panel.choose('Where the key is used', 'Secret: in your backend only');
      await panel.press('Create a key');
      await panel.sees('This is shown once.');
      expect(await ends()).toBe(false);
      await panel.page.evaluate('history.back()');
      await panel.sees('Leave this page?');
      await panel.sees('What it shows is not shown again.');
      expect(await panel.violations('key-leave')).toEqual([]);
      await panel.escape();
      await panel.doesNotSee('Leave this page?');
      await panel.sees('This is shown once.');
      await panel.press('I have copied the key');
      await panel.doesNotSee('This is shown once.');
      expect(await ends()).toBe(true);
      await panel.page.evaluate('history.back()');
      await panel.isAt('Demonstration shop');
    });

    test('a section of the banner that was left on purpose begins again, and nothing asks any more', async () => {
      await panel.press('Banner');
      await panel.isAt('Banner');
      await panel.choose('Language of the texts', 'Turkish');
      const before = await panel.valueOf('Heading');
      await panel.type('Heading', 'Bisküvi');
      await panel.choose('Language of the texts', 'English');
      expect(await ends()).toBe(false);
      await panel.press('Settings');
      await panel.press('Leave without saving');
      await panel.sees('Legal name of the controller');
      expect(await ends()).toBe(true);
      await panel.press('Texts');
      await panel.choose('Language of the texts', 'Turkish');
      expect(await panel.valueOf('Heading')).toBe(before);
    });

    test('paper shows the decision and the state of records, in tables', async () => {
      await panel.visit('/sites');
      await panel.press('Demonstration shop');
      await panel.press('Consents');
      await panel.isAt('Consents');
      const isThere = (selector: string) =>
        panel.page.until(
          async () => (await panel.page.evaluate(`document.querySelector('${selector}') !== null`)) === true,
        );
      await isThere('main tbody .badge');
      const onPaper = async (expression: string): Promise<unknown> => {
        await panel.page.send('Emulation.setDeviceMetricsOverride', {
          width: 700,
          height: 990,
          deviceScaleFactor: 1,
          mobile: false,
        });
        await panel.page.send('Emulation.setEmulatedMedia', { media: 'print' });
        const seen = await panel.page.evaluate(
          `((shown) => ${expression})((one) => one?.getBoundingClientRect().height > 0)`,
        );
        await panel.page.send('Emulation.setEmulatedMedia', { media: '' });
        // The window of a desk again.
        await panel.onPhone(() => Promise.resolve());
        return seen;
      };
      expect(
        await onPaper(
          `[getComputedStyle(document.querySelector('main tbody tr')).display, [...document.querySelectorAll('main tbody .badge')].every(shown), [...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > 700).map(({ className, localName }) => localName + '.' + className).slice(0, 5)]`,
        ),
      ).toEqual(['table-row', true, []]);
      await panel.openFirstRow();
      await isThere('.facts .badge');
      expect(
        await onPaper(
          `[shown(document.querySelector('.facts .badge')), [...document.querySelectorAll('.card .button')].some(shown)]`,
        ),
      ).toEqual([true, false]);
      await setAppearance(panel.page, 'light');
    });

    test('says what does not exist, and leads back', async () => {
      const site = String(await panel.page.evaluate(`/sites\\/([^/]+)/.exec(location.pathname)[1]`));
      const absent = '01900000-0000-7000-8000-000000000000';
      for (const [path, back] of [
        [`/sites/${site}/consents/${absent}`, 'Consents'],
        [`/sites/${site}/consents/nothing`, 'Consents'],
        [`/sites/${site}/documents/${absent}`, 'Documents'],
        [`/sites/${site}/erasures/${absent}`, 'Erasures'],
        [`/sites/${absent}`, 'Sites'],
      ] as const) {
        await panel.visit(path);
        await panel.isAt('This does not exist');
        expect(await panel.page.evaluate('document.title')).toBe('This does not exist · Consent Ledger');
        await panel.page.evaluate(`document.querySelector('main p a').click()`);
        await panel.isAt(back);
      }
    });

    test('signing out asks while something typed is not saved', async () => {
      await panel.visit('/sites');
      await panel.press('Demonstration shop');
      await panel.press('Banner');
      await panel.press('Settings');
      await panel.type('Legal name of the controller', 'Another shop');
      await panel.reach('Your account:');
      await panel.page.press('Enter');
      await panel.reach('Sign out');
      await panel.page.press('Enter');
      await panel.sees('Leave this page?');
      await panel.escape();
      await panel.doesNotSee('Leave this page?');
      expect(await panel.valueOf('Legal name of the controller')).toBe('Another shop');
      await panel.signOut();
      await panel.press('Leave without saving');
      await panel.isAt('Sign in');
    });
  },
);
