import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SeededDemo } from '../../src/demo/seed/seed-demo.js';
import { type RunningApp, startApp } from '../api/server/running-app.js';
import { chromiumPath } from '../support/chromium.js';
import { titleNeeding } from '../support/missing-tools.js';
import { postSigned } from '../support/signed-requests.js';
import { PanelBrowser } from './panel-browser.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../dashboard/dist/index.html', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;

/** The active English version of the cookie policy. */
function cookiePolicyOf({ documents }: SeededDemo): string {
  const versions = documents.find(({ slug }) => slug === 'cookie-policy')?.versions ?? [];
  return versions.find(({ state, language }) => state === 'active' && language === 'en')?.id ?? '';
}

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built dashboard,', canRun, 'a day of an owner'), () => {
  let app: RunningApp;
  let demo: SeededDemo;
  let panel: PanelBrowser;
  beforeAll(async () => {
    app = await startApp('serve');
    demo = await app.seed();
    panel = await PanelBrowser.open(chromiumPath ?? '', app.url);
  });
  afterAll(async () => {
    await panel?.close();
    await app?.stop();
  });

  test('signs in after a wrong password, at the page that was asked for', async () => {
    await panel.visit('/sites');
    await panel.isAt('Sign in');
    expect(await panel.violations('sign-in')).toEqual([]);
    await panel.signIn(demo.panel_user.email, 'a wrong password');
    await panel.sees('Wrong e-mail address or password.');
    expect(await panel.violations('sign-in-refused')).toEqual([]);
    await panel.signIn(demo.panel_user.email, demo.panel_user.password);
    await panel.isAt('Sites');
  });

  test('adds a site; what the service refuses stands at the field', async () => {
    expect(await panel.violations('sites')).toEqual([]);
    await panel.press('Add a site');
    await panel.type('Name', 'Bakery');
    await panel.type('Domain', '192.0.2.1');
    await panel.press('Add a site');
    await panel.sees('must be a domain');
    expect(await panel.violations('add-site-refused')).toEqual([]);
    await panel.type('Domain', 'bakery.example');
    await panel.press('Add a site');
    await panel.press('Bakery');
    await panel.isAt('Bakery');
    await panel.sees('_consent-ledger.bakery.example');
    expect(await panel.violations('site')).toEqual([]);
  });

  test('creates keys, which are shown once and stand in the code to copy', async () => {
    await panel.press('API & Integrations');
    await panel.isAt('API & Integrations');
    await panel.sees('This site has no API key yet');
    expect(await panel.violations('keys-empty')).toEqual([]);
    await panel.press('Create a key');
    await panel.type('Name', 'pages of the bakery');
    await panel.press('Create a key');
    await panel.sees('This is shown once.');
    expect(await panel.violations('key-shown')).toEqual([]);
    const [key = ''] = /svc_live_[\w-]{40,}/.exec(await panel.text()) ?? [];
    await panel.press('I have copied the key');
    await panel.sees(`data-api-key="${key}"`);
    expect(await panel.violations('keys')).toEqual([]);
    await panel.press('Replace: pages of the bakery');
    await panel.choose('The old key works for', 'not at all');
    await panel.press('Replace');
    await panel.press('I have copied the key');
    await panel.sees('Replaced, expired');
    await panel.press('Revoke: pages of the bakery');
    await panel.press('Revoke');
    await panel.sees('Revoked');
  });

  test('writes, publishes and activates a document, and sees what a new version changes', async () => {
    await panel.press('Documents');
    await panel.sees('This site has no document yet');
    expect(await panel.violations('documents-empty')).toEqual([]);
    await panel.press('Add a document');
    await panel.type('Short name', 'cookie-policy');
    await panel.press('Add a document');
    await panel.press('cookie-policy');
    await panel.isAt('cookie-policy');
    await panel.press('Write a draft');
    await panel.type('Title', 'Cookies of the bakery');
    await panel.type('Text', 'We use cookies.\nFor bread.');
    await panel.press('Write a draft');
    await panel.press('Publish: Cookies of the bakery');
    await panel.press('Publish');
    await panel.press('Put in force: Cookies of the bakery');
    await panel.press('Put in force');
    await panel.sees('In force');
    await panel.press('Write a draft');
    await panel.type('Title', 'Cookies and cakes');
    await panel.choose('Format', 'HTML');
    await panel.type('Text', 'We use cookies.\n<script>parent.document.title = "taken over"</script>For cakes.');
    await panel.press('Write a draft');
    await panel.press('Show: Cookies and cakes');
    await panel.press('Difference to the version before');
    await panel.sees('For cakes.');
    expect(await panel.violations('document')).toEqual([]);
    expect(await panel.page.evaluate('document.title')).toBe('cookie-policy · Consent Ledger');
  });

  test('finds a consent, and sees what the person saw, its proof and its personal values', async () => {
    const consent = {
      consent_type: 'cookie',
      decision: 'partial',
      categories: { necessary: true, analytics: true, marketing: false },
      document_version_id: cookiePolicyOf(demo),
      visitor_id: 'visitor-1',
      language: 'en',
    };
    await postSigned(app.url, demo.keys.write, '/tool/v1/consents', { ...consent, visitor_id: 'visitor-2' });
    await postSigned(app.url, demo.keys.write, '/tool/v1/consents', consent);
    await panel.choose('Site', 'Demonstration shop');
    await panel.press('Consents');
    await panel.isAt('Consents');
    await panel.sees('Time-proved');
    expect(await panel.violations('consents')).toEqual([]);
    await panel.type('Value', 'visitor-1');
    await panel.press('Search');
    await panel.sees('Records of this person');
    await panel.sees('Partly accepted');
    expect(await panel.violations('person')).toEqual([]);
    await panel.page.evaluate(`document.querySelector('tbody a').click()`);
    await panel.sees('The record is unchanged since it was recorded.');
    await panel.sees('Words of the banner');
    await panel.press('Show personal values');
    await panel.press('Show personal values');
    await panel.sees('visitor-1');
    expect(await panel.violations('consent')).toEqual([]);
  });

  test('exports the evidence of a person, and has it checked in the browser', async () => {
    await panel.press('Export for this person');
    await panel.press('Export for this person');
    await panel.isAt('Evidence');
    await panel.sees('Ready');
    expect(await panel.violations('evidence')).toEqual([]);
    await panel.press('Check now in this browser');
    await panel.sees('The verifier page has opened and checks the package.');
    const checked = await panel.textOfPage('/verify', 'Checked');
    expect(checked).toContain('evidence-');
  });

  test('erases a person, and has a receipt', async () => {
    await panel.press('Consents');
    await panel.type('Value', 'visitor-1');
    await panel.press('Search');
    await panel.press('Erase this person');
    expect(await panel.violations('erase')).toEqual([]);
    await panel.press('Erase this person');
    await panel.isAt('Receipt of the erasure');
    await panel.sees('Finished');
    await panel.sees('Proved by a time stamp');
    expect(await panel.violations('erasure')).toEqual([]);
    await panel.press('Erasures');
    await panel.sees('A person');
    expect(await panel.violations('erasures')).toEqual([]);
    await panel.press('Evidence');
    await panel.sees('because a person was erased');
  });

  test('stays signed in after the page is loaded again, and is signed out on request', async () => {
    await panel.visit('/');
    await panel.isAt('Overview');
    await panel.press('Sign out');
    await panel.isAt('Sign in');
    await panel.visit('/');
    await panel.isAt('Sign in');
  });

  test('the browser refused nothing by the policy', () => {
    expect(panel.logged()).toEqual([]);
  });
});
