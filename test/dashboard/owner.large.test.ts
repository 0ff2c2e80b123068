import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { SeededDemo } from '../../src/demo/seed/seed-demo.js';
import { type RunningApp, startApp } from '../api/server/running-app.js';
import { WebhookReceiver } from '../pipeline/webhooks/receiver.js';
import { chromiumPath } from '../support/chromium.js';
import { titleNeeding } from '../support/missing-tools.js';
import { postSigned } from '../support/signed-requests.js';
import { authenticatorCode } from './authenticator.js';
import { PanelBrowser } from './panel-browser.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../dashboard/dist/index.html', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;

/** One white dot. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==';
const OTHER_PASSWORD = 'seven bakers knead by moonlight';

/** The active English version of the cookie policy. */
function cookiePolicyOf({ documents }: SeededDemo): string {
  const versions = documents.find(({ slug }) => slug === 'cookie-policy')?.versions ?? [];
  return versions.find(({ state, language }) => state === 'active' && language === 'en')?.id ?? '';
}

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built dashboard,', canRun, 'a day of an owner'), () => {
  let app: RunningApp;
  let demo: SeededDemo;
  let panel: PanelBrowser;
  let receiver: WebhookReceiver;
  beforeAll(async () => {
    receiver = await WebhookReceiver.open();
    app = await startApp('serve', { SIGN_UP: 'open', WEBHOOK_NETWORKS: '127.0.0.0/8' });
    demo = await app.seed();
    panel = await PanelBrowser.open(chromiumPath ?? '', app.url);
  });
  afterAll(async () => {
    await panel?.close();
    await app?.stop();
    receiver?.close();
  });

  // A fast machine gets through the whole day within the minute of a user's limit.
  beforeEach(async () => {
    await app.superuser.query('delete from rate_limit_windows');
  });

  test('signs in after a wrong password, at the page that was asked for', async () => {
    await panel.visit('/sites');
    await panel.isAt('Sign in');
    // Without a sign-in the page asks for none, and loads neither pages for users nor their dialogs.
    const loaded = `performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)`;
    const paths = z.array(z.string()).parse(await panel.page.evaluate(loaded));
    expect(paths.filter((path) => /refresh|signed-in|overview|sites-|table|dialog|ask-before/.test(path))).toEqual([]);
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
    await panel.isAt('Your site and its domain');
    await panel.type('Name', 'Bakery');
    await panel.type('Domain', '192.0.2.1');
    await panel.press('Continue');
    await panel.sees('Enter a domain, not an IP address.');
    // Pasted from the address bar.
    await panel.type('Domain', 'https://Bakery.example/');
    // The message of the field goes with the press, and the button stays below the pointer.
    await panel.pressByMouse('Continue');
    await panel.press('Change the name, domain or origins of the site');
    await panel.isAt('Bakery');
    await panel.sees('_consent-ledger.bakery.example');
    expect(await panel.violations('site')).toEqual([]);
  });

  test('creates keys: a secret one is shown once, a publishable one again, and each stands in the code to copy', async () => {
    // Most sites have no conflict: nothing of that section is shown until one is read.
    const conflicts = await panel.holdBack('*/idempotency-conflicts?*');
    await panel.press('API & Integrations');
    await panel.isAt('API & Integrations');
    await panel.sees('This site has no API key yet');
    await conflicts.came();
    expect(await panel.text()).not.toContain('Idempotency keys used twice');
    await conflicts.release();
    expect(await panel.violations('keys-empty')).toEqual([]);
    await panel.press('Create a key');
    // By keyboard: the focus is in the dialog, Escape closes it, and the focus returns to the button.
    await panel.page.until(
      async () => (await panel.page.evaluate(`document.activeElement.closest('[role=dialog]') !== null`)) === true,
    );
    await panel.escape();
    await panel.doesNotSee('Where the key is used');
    await panel.page.until(
      async () => (await panel.page.evaluate('document.activeElement.textContent')) === 'Create a key',
    );
    // It asks if something was typed.
    await panel.page.press('Enter');
    await panel.type('Name', 'pages of the bakery');
    await panel.escape();
    await panel.sees('What you entered was not saved.');
    await panel.escape();
    await panel.doesNotSee('What you entered was not saved.');
    expect(await panel.valueOf('Name')).toBe('pages of the bakery');
    await panel.press('Create a key');
    await panel.sees('You can see it again in the list.');
    expect(await panel.violations('publishable-key-made')).toEqual([]);
    const pageKey = await panel.codeShown();
    await panel.press('Close');
    await panel.sees('Never used');
    // Known again after the page was loaded anew, in the list and in the code.
    await panel.visit(z.string().parse(await panel.page.evaluate(`location.pathname.replace('/panel', '')`)));
    await panel.sees(`data-api-key="${pageKey}"`);
    await panel.press('Show: pages of the bakery');
    await panel.page.until(
      async () => (await panel.page.evaluate(`document.querySelector('[role=dialog] pre').textContent`)) === pageKey,
    );
    expect(await panel.violations('publishable-key-shown')).toEqual([]);
    await panel.press('Close');
    await panel.press('Create a key');
    await panel.type('Name', 'backend of the bakery');
    await panel.choose('Where the key is used', 'Secret: in your backend only');
    await panel.press('Create a key');
    await panel.sees('This is shown once.');
    expect(await panel.violations('key-shown')).toEqual([]);
    const key = await panel.codeShown();
    // Escape asks first: the key would be gone.
    await panel.escape();
    await panel.sees('What it shows is not shown again.');
    expect(await panel.violations('key-asks')).toEqual([]);
    await panel.press('Back');
    await panel.doesNotSee('What it shows is not shown again.');
    expect(await panel.text()).toContain(key);
    await panel.press('I have copied the key');
    await panel.sees(`apiKey: '${key}'`);
    await panel.sees(`data-api-key="${pageKey}"`);
    expect(await panel.violations('keys')).toEqual([]);
    expect(await panel.linesOnPhone()).toBeLessThanOrEqual(3);
    // By keyboard: the menu takes the focus, and Escape gives it back.
    await panel.press('Actions: pages of the bakery');
    await panel.page.until(
      async () => (await panel.page.evaluate(`document.activeElement.closest('[role=menu]') !== null`)) === true,
    );
    await panel.page.press('Escape');
    await panel.page.until(
      async () =>
        (await panel.page.evaluate(`document.activeElement.getAttribute('aria-label')`)) ===
        'Actions: pages of the bakery',
    );
    await panel.press('Actions: pages of the bakery');
    await panel.press('Replace');
    await panel.choose('The old key works for', 'not at all');
    await panel.press('Replace');
    await panel.press('Close');
    await panel.sees('Replaced, expired');
    await panel.press('Actions: pages of the bakery');
    await panel.press('Revoke');
    await panel.press('Revoke');
    await panel.sees('Revoked');
    // The button is gone with the key; the focus stays in its list.
    const isNear = `document.activeElement.closest('section')?.querySelector('h2')?.textContent === 'API keys'`;
    await panel.page.until(async () => (await panel.page.evaluate(isNear)) === true);
  });

  test('a step of the checklist is done as soon as it is known, whatever another one waits for', async () => {
    const documents = await panel.holdBack('*/documents?limit=100*');
    await panel.press('General');
    await panel.isAt('Bakery');
    await documents.came();
    const isDone = `[...document.querySelectorAll('.step-done')].some((step) => step.textContent.includes('Create an API key'))`;
    await panel.page.until(async () => (await panel.page.evaluate(isDone)) === true);
    await documents.release();
  });

  test('adds a webhook whose secret is shown once, sends again, pauses and removes it', async () => {
    await panel.press('Webhooks');
    await panel.isAt('Webhooks');
    await panel.sees('This site has no webhook yet');
    expect(await panel.violations('webhooks-empty')).toEqual([]);
    await panel.press('Add a webhook');
    await panel.type('Address', 'ftp://hooks.bakery.example');
    expect(await panel.violations('webhook-new')).toEqual([]);
    await panel.press('Add a webhook');
    await panel.page.until(async () =>
      Boolean(await panel.page.evaluate(`document.querySelector('[role=dialog] .field-error')?.textContent ?? ''`)),
    );
    await panel.type('Address', `${receiver.origin}/consents`);
    await panel.tick('Personal values erased');
    await panel.press('Add a webhook');
    await panel.sees('This is shown once.');
    const [secret = ''] = /whsec_[\w+/=]{20,}/.exec(await panel.text()) ?? [];
    expect(secret).not.toBe('');
    expect(await panel.violations('webhook-secret')).toEqual([]);
    await panel.press('I have copied the secret');
    await panel.sees(
      'Consent recorded, Consent withdrawn, Objection made, Objection taken back, Time stamp over further records',
    );
    expect(await panel.text()).not.toContain(secret);
    expect(await panel.violations('webhooks')).toEqual([]);
    const about = `${receiver.origin}/consents`;
    await panel.press(`Actions: ${about}`);
    await panel.press('Send events again');
    await panel.type('From revision', '0');
    await panel.press('Send events again');
    // A dialog that closes gives the focus back, which would close the menu.
    await panel.doesNotSee('From revision');
    await panel.press(`Actions: ${about}`);
    await panel.press('Pause');
    await panel.press('Pause');
    await panel.sees('Paused');
    await panel.doesNotSee('Nothing is sent until you continue.');
    await panel.press(`Actions: ${about}`);
    await panel.press('Continue');
    await panel.press('Continue');
    await panel.sees('Enabled');
    await panel.sees('No message was sent to this address yet.');
    await panel.doesNotSee('the next attempt follows at once');
    receiver.answers.set('/consents', 500);
    await panel.press(`Actions: ${about}`);
    await panel.press('Send a test message');
    await panel.press('Send a test message');
    await panel.sees('The receiver answered with the status 500.');
    expect(await panel.violations('webhook-given-up')).toEqual([]);
    receiver.answers.clear();
    await panel.onPhone(async () => {
      await panel.reach('Send again: msg_');
      await panel.page.press('Enter');
      await panel.sees('Sends this message once more');
      await panel.reach('Send again');
      await panel.page.press('Enter');
    });
    await receiver.reaches('/consents', 2);
    await panel.sees('Delivered');
    expect(await panel.violations('webhook-deliveries')).toEqual([]);
    expect(new Set(receiver.eventsAt('/consents', secret).map(({ id }) => id)).size).toBe(1);
    await panel.press(`Actions: ${about}`);
    await panel.press('Replace the secret');
    await panel.press('Replace the secret');
    await panel.sees('This is shown once.');
    expect(await panel.text()).not.toContain(secret);
    await panel.press('I have copied the secret');
    await panel.press(`Actions: ${about}`);
    await panel.press('Remove');
    await panel.press('Remove');
    await panel.sees('This site has no webhook yet');
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
    await panel.press('Save the draft');
    await panel.press('Publish: Cookies of the bakery');
    await panel.press('Publish');
    await panel.press('Put in force: Cookies of the bakery');
    await panel.press('Put in force');
    await panel.sees('In force');
    // It begins with the version in force, and shows what is changed.
    await panel.press('Write a draft');
    await panel.sees('Difference to the version in force');
    expect(await panel.valueOf('Title')).toBe('Cookies of the bakery');
    expect(await panel.valueOf('Text')).toBe('We use cookies.\nFor bread.');
    await panel.press('Difference to the version in force');
    await panel.sees('The words are the same as in the version before.');
    await panel.type('Title', 'Cookies and cakes');
    await panel.choose('Format', 'HTML');
    await panel.type('Text', 'We use cookies.\nFor rye bread.');
    await panel.sees('For rye bread.');
    expect(await panel.violations('document-in-force')).toEqual([]);
    await panel.type('Text', 'We use cookies.\n<script>parent.document.title = "taken over"</script>For cakes.');
    await panel.press('Save the draft');
    expect(await panel.linesOnPhone()).toBeLessThanOrEqual(3);
    await panel.press('Actions: Cookies and cakes');
    await panel.press('Change the draft');
    await panel.type('Title', 'Cookies and many cakes');
    await panel.press('Change the draft');
    await panel.press('Show: Cookies and many cakes');
    await panel.press('Difference to the version before');
    await panel.sees('For cakes.');

    // A template's gaps are shown, and keep it from being published.
    await panel.press('Write a draft');
    await panel.choose('Start from', 'Template: German');
    await panel.page.until(
      async () => (await panel.page.evaluate(`document.querySelector('textarea')?.value.includes('[[who:')`)) === true,
    );
    expect(await panel.violations('document-template')).toEqual([]);
    await panel.press('Save the draft');
    await panel.press('Show: Cookie- und Datenschutzerklärung');
    await panel.sees('This draft has gaps that are not filled in');
    await panel.press('Publish: Cookie- und Datenschutzerklärung');
    await panel.press('Publish');
    await panel.sees('Fill in the gaps of the text first: [[who: Name');
    expect(await panel.violations('document-with-gaps')).toEqual([]);
    await panel.press('Cancel');
    await panel.press('Show: Cookies and many cakes');
    expect(await panel.violations('document')).toEqual([]);
    expect(await panel.page.evaluate('document.title')).toBe('cookie-policy · Consent Ledger');
  });

  test('attaches a document to another site, which cannot change it, and detaches it', async () => {
    await panel.sees('No other site uses this document.');
    await panel.press('Attach to a site');
    await panel.press('Attach to a site');
    await panel.sees('already');
    expect(await panel.violations('attach-document-refused')).toEqual([]);
    await panel.press('Cancel');
    await panel.press('Documents');
    await panel.press('Add a document');
    await panel.type('Short name', 'imprint');
    await panel.press('Add a document');
    await panel.press('imprint');
    await panel.isAt('imprint');
    await panel.press('Attach to a site');
    expect(await panel.violations('attach-document')).toEqual([]);
    await panel.press('Attach to a site');
    await panel.sees('Attached since');
    expect(await panel.violations('document-attached')).toEqual([]);
    await panel.press(`Demonstration shop (${demo.site.domain})`);
    await panel.sees('This document belongs to another site, and is changed there');
    expect(await panel.offers('Write a draft')).toBe(false);
    expect(await panel.violations('document-of-other-site')).toEqual([]);
    await panel.press('Bakery (bakery.example)');
    await panel.press(`Detach: ${demo.site.domain}`);
    await panel.press('Detach');
    await panel.sees('No other site uses this document.');
    await panel.press('Documents');
    await panel.press('cookie-policy');
    await panel.isAt('cookie-policy');
  });

  test('writes a banner, sees it as visitors will, and is told why it cannot be published yet', async () => {
    await panel.press('Banner');
    await panel.isAt('Banner');
    expect(await panel.violations('banner-settings-empty')).toEqual([]);
    // A section says what it needs, and leads to the field.
    await panel.press('Texts');
    await panel.sees('Choose at least one language first.');
    expect(await panel.violations('banner-empty')).toEqual([]);
    await panel.press('Languages');
    await panel.page.until(async () => (await panel.page.evaluate('document.activeElement.name')) === 'languages');
    await panel.type('Legal name of the controller', 'Bakery Ltd');
    // Each text stands in its own direction.
    const directions = `[...document.querySelectorAll('main .field input[type=text]')].map(({ dir }) => dir)`;
    expect(new Set(z.array(z.string()).parse(await panel.page.evaluate(directions)))).toEqual(new Set(['auto']));
    await panel.type('Contact for questions', 'privacy@bakery.example');
    await panel.tick('English');
    await panel.tick('Turkish');
    await panel.choose('Time zone of evidence', 'Europe/Istanbul');
    await panel.press('Save', 'Controller and languages');
    await panel.sees('Saved');
    await panel.press('Texts');
    // A screen reader names the section.
    await panel.page.until(
      async () => (await panel.page.evaluate(`document.activeElement.getAttribute('aria-label')`)) === 'Texts',
    );
    await panel.type('Heading', 'Cookies of the bakery');
    await panel.seesInFrame('Cookies of the bakery');
    await panel.type('Text', 'May we count visits?');
    await panel.type('How a visitor withdraws', 'Open the settings at the foot of each page.');
    await panel.type('Address where visitors change', 'https://bakery.example:8443/choices');
    await panel.press('Save', 'Texts of the banner');
    await panel.sees('Enter an address with https and a host in lower case');
    await panel.type('Address where visitors change', 'https://bakery.example/choices');
    await panel.press('Save', 'Texts of the banner');
    await panel.sees('Saved');
    await panel.press('Categories and cookies');
    await panel.press('Add a category');
    await panel.type('Key', 'analytics');
    for (const language of ['English', 'Turkish']) {
      await panel.type(`Name (${language})`, `Statistics ${language}`);
      await panel.type(`Purpose (${language})`, `Counting ${language}`);
    }
    expect(await panel.violations('category')).toEqual([]);
    await panel.press('Save');
    await panel.press('Edit: analytics');
    await panel.press('Add a service');
    await panel.type('Name of the service', 'Counter');
    await panel.type('Company that receives the data', 'Counter Ltd');
    await panel.type('Address of its privacy policy', 'http://counter.example');
    await panel.type('Key', 'counter');
    expect(await panel.violations('category-services')).toEqual([]);
    await panel.press('Save');
    await panel.sees('Enter a whole address');
    await panel.type('Address of its privacy policy', 'https://counter.example/privacy');
    await panel.press('Save');
    await panel.doesNotSee('Enter a whole address');
    await panel.press('Edit: analytics');
    expect(await panel.page.evaluate(`document.querySelector('[name="services.0.recipient"]').value`)).toBe(
      'Counter Ltd',
    );
    await panel.press('Cancel');
    await panel.press('Settings');
    await panel.tick('Visitors can accept each service by itself');
    // The next form is filled and sent before the answer to this one is there.
    const heldBack = await panel.holdBack('*/configuration');
    await panel.press('Save', 'Controller and languages');
    await panel.press('Categories and cookies');
    await panel.press('Add a cookie');
    await panel.type('Name', '_visits');
    await panel.type('Provider', 'bakery.example');
    for (const language of ['English', 'Turkish']) await panel.type(`Purpose (${language})`, `Counting ${language}`);
    await panel.press('Save');
    await heldBack.release();
    await panel.sees('_visits');
    expect(await panel.violations('banner')).toEqual([]);
    // What is missing leads to its field, in its language.
    await panel.press('Publish');
    await panel.sees('Texts of the banner: Text (Turkish): is missing');
    await panel.sees('bakery.example: prove first that the domain is yours');
    expect(await panel.isDisabled('Publish the draft')).toBe(true);
    expect(await panel.violations('banner-missing')).toEqual([]);
    await panel.press('Texts of the banner: Text (Turkish)');
    await panel.page.until(async () => (await panel.page.evaluate('document.activeElement.name')) === 'texts.text');
    await panel.type('Heading', 'Fırının çerezleri');
    await panel.seesInFrame('Fırının çerezleri');
    await panel.type('Text', 'Ziyaretleri sayabilir miyiz?');
    await panel.type('How a visitor withdraws', 'Her sayfanın altındaki ayarları açın.');
    // Texts of both languages stay while another one is chosen, and until the page is left on purpose.
    await panel.choose('Language of the texts', 'English');
    await panel.type('Heading', 'Cookies and bread');
    await panel.choose('Language of the texts', 'Turkish (not saved)');
    await panel.seesInFrame('Fırının çerezleri');
    expect(await panel.valueOf('Heading')).toBe('Fırının çerezleri');
    await panel.press('Look');
    await panel.sees('Leave this page?');
    expect(await panel.violations('leave-page')).toEqual([]);
    // Escape stays.
    await panel.escape();
    await panel.doesNotSee('Leave this page?');
    await panel.press('Save', 'Texts of the banner');
    await panel.press('Documents');
    await panel.sees('Leave this page?');
    await panel.press('Stay on this page');
    await panel.choose('Language of the texts', 'English (not saved)');
    expect(await panel.valueOf('Heading')).toBe('Cookies and bread');
    await panel.type('Heading', 'Cookies of the bakery');
    await panel.press('Save', 'Texts of the banner');
    await panel.page.until(async () => !(await panel.text()).includes('(not saved)'));
    await panel.press('Documents');
    await panel.isAt('Documents');
    await panel.press('Banner');
    await panel.choose('Language of the texts', 'Turkish');
    expect(await panel.valueOf('Heading')).toBe('Fırının çerezleri');

    // What a further language does not say yet is filled in by one press, and marked.
    await panel.press('Settings');
    await panel.tick('Greek');
    await panel.press('Save', 'Controller and languages');
    await panel.sees('Saved');
    await panel.press('Texts');
    await panel.choose('Language of the texts', 'Greek');
    await panel.press('Use the default texts');
    await panel.sees('Every text that is still empty gets its default.');
    await panel.tick('Necessary');
    expect(await panel.violations('banner-defaults')).toEqual([]);
    await panel.press('Use the default texts');
    await panel.sees('Default text');
    await panel.sees('No native speaker has confirmed these texts yet: Greek.');
    expect(await panel.violations('banner-with-defaults')).toEqual([]);
    await panel.press('Categories and cookies');
    await panel.sees('To make this site work securely and to remember your choice. (Default text)');
    await panel.press('Publish');
    await panel.sees('Next version');
    await panel.doesNotSee('How a visitor withdraws the choice (Greek)');
    await panel.press('Settings');
    await panel.tick('Greek');
    await panel.press('Save', 'Controller and languages');
    await panel.sees('Saved');
    await panel.press('Look');

    // A pale reject button is refused, with the source of the rule.
    await panel.choose('Layout', 'Box in a corner');
    await panel.pickColour('appearance.light.reject', '#f2f2f2');
    await panel.pickColour('appearance.light.on_reject', '#1c2127');
    await panel.sees('stands out less than the button that accepts');
    await panel.sees('EDPB guidelines 03/2022');
    expect(await panel.violations('banner-unfair')).toEqual([]);
    await panel.press('Save', 'Look');
    await panel.sees('Saved');
    await panel.press('Publish');
    await panel.sees('Look: is unfair to visitors');
    await panel.press('Look', 'Next version');
    await panel.page.until(
      async () => (await panel.page.evaluate('document.activeElement.name')) === 'appearance.light.reject',
    );
    await panel.pickColour('appearance.light.reject', '#7a1f2b');
    await panel.pickColour('appearance.light.on_reject', '#ffffff');
    await panel.doesNotSee('stands out less');
    await panel.press('Save', 'Look');
    await panel.sees('Saved');
    await panel.choose('Window', 'Phone');
    await panel.choose('Appearance', 'Dark');
    expect(await panel.violations('banner-look')).toEqual([]);
    // On a phone, one press shows the preview.
    await panel.onPhone(async () => {
      await panel.press('Show the preview');
      await panel.sees('with your unsaved changes');
    });

    // Signals of IAB are off, and refused with a reason if something is missing.
    await panel.press('Signals (IAB)');
    await panel.tick('GPP string of IAB Tech Lab, for the United States');
    await panel.tick('TC string of IAB Europe (TCF)');
    for (const label of ['Version of the consent platform', 'Version of the vendor list', 'Vendors'])
      await panel.type(label, '7');
    await panel.type('Country of the publisher', 'DE');
    await panel.type('SHA-256 of the file', '0'.repeat(64));
    await panel.type('Purposes that analytics permits', '7, 8');
    await panel.type('Number of the consent platform', '300');
    await panel.press('Save', 'Signals for advertisers (IAB)');
    await panel.sees('Saved');
    expect(await panel.violations('banner-iab')).toEqual([]);
    await panel.press('Publish');
    await panel.sees('Signals for advertisers (IAB): the operator has no vendor list');
    await panel.press('Signals (IAB)');
    await panel.tick('TC string of IAB Europe (TCF)');
    await panel.press('Save', 'Signals for advertisers (IAB)');
    await panel.sees('Saved');
    await panel.press('Publish');
    await panel.doesNotSee('the operator has no vendor list');
    // Publishing would be refused, and says why before it is pressed.
    await panel.sees('bakery.example: prove first that the domain is yours');
    expect(await panel.isDisabled('Publish the draft and confirm its texts')).toBe(true);
  });

  test('sees what a version changes, publishes it, and publishes an earlier one again', async () => {
    await panel.visit(`/sites/${demo.site.id}/banner/publish`);
    await panel.sees('there is nothing to publish');
    expect(await panel.isDisabled('Publish the draft')).toBe(true);
    await panel.press('Texts');
    await panel.type('Heading', 'Choose');
    await panel.press('Save', 'Texts of the banner');
    await panel.sees('Saved');
    await panel.press('Look');
    await panel.choose('Layout', 'Box in a corner');
    await panel.press('Save', 'Look');
    await panel.sees('Saved');
    await panel.press('Publish');
    await panel.sees('Heading (English)');
    await panel.sees('Box in a corner');
    expect(await panel.violations('banner-difference')).toEqual([]);
    await panel.press('Make a link');
    await panel.sees('Anyone with this link can see the draft until');
    await panel.sees(`https://${demo.site.domain}/#consent-draft=`);
    expect(await panel.violations('banner-link')).toEqual([]);
    await panel.press('Publish the draft');
    await panel.sees('The draft becomes the next version');
    expect(await panel.violations('banner-publish')).toEqual([]);
    await panel.press('Publish the draft');
    await panel.sees('Version 2 is published and in force.');
    // The button is disabled now, so that the message takes the focus.
    await panel.page.until(
      async () => (await panel.page.evaluate(`document.activeElement.textContent.includes('Version 2')`)) === true,
    );
    await panel.press('Publish version 1 again');
    await panel.sees('The draft then has the same content.');
    await panel.sees('Heading (English)');
    expect(await panel.violations('banner-again')).toEqual([]);
    await panel.press('Publish version 1 again');
    await panel.sees('Version 3 is published and in force.');
    await panel.sees('The draft is the same as the version in force.');
    expect(await panel.violations('banner-published')).toEqual([]);
    await panel.visit('/sites');
    await panel.press('Bakery');
    await panel.isAt('Bakery');
  });

  test('finds a consent, and sees what the person saw, its proof and its personal values', async () => {
    const consent = {
      consent_type: 'cookie',
      decision: 'partial',
      categories: { necessary: true, analytics: true, marketing: false },
      document_version_id: cookiePolicyOf(demo),
      visitor_id: 'visitor-1',
      language: 'en',
      signature_image: PNG,
      presentation: { layout: 'bar', layout_version: 2, layer: 'settings', control: 'save', size_class: 'desktop' },
    };
    await postSigned(app.url, demo.keys.write, '/tool/v1/consents', { ...consent, visitor_id: 'visitor-2' });
    await postSigned(app.url, demo.keys.write, '/tool/v1/consents', consent);
    // Arrow keys move through the sites, and only a press leaves the page.
    const address = await panel.page.evaluate('location.href');
    await panel.reach('Chosen site:');
    await panel.page.press('ArrowDown');
    await panel.page.press('ArrowDown');
    expect(await panel.page.evaluate('location.href')).toBe(address);
    await panel.page.press('Escape');
    await panel.chooseSite('Demonstration shop');
    await panel.press('Consents');
    await panel.isAt('Consents');
    await panel.sees('Test stamp');
    expect(await panel.violations('consents')).toEqual([]);
    // The person of the newest record, by a click that the audit log has.
    await panel.press('Show the person');
    expect(await panel.violations('reason')).toEqual([]);
    await panel.type('Why you need personal values', 'a complaint');
    await panel.press('Show the person');
    await panel.sees('visitor-1');
    await panel.press('Filter');
    await panel.choose('Decision', 'Partly accepted');
    await panel.press('Apply');
    await panel.sees('Decision: Partly accepted');
    await panel.doesNotSee('Withdrawn');
    expect(await panel.violations('consents-filtered')).toEqual([]);
    await panel.openFirstRow();
    await panel.press('Next record');
    await panel.sees('Previous record');
    expect(await panel.page.evaluate('location.search')).toBe('?decision=partial');
    await panel.press('Back to the list');
    await panel.sees('Decision: Partly accepted');
    const place = await panel.page.evaluate('document.querySelector(location.hash)?.closest("tr")?.rowIndex');
    expect(place).toBe(2);
    const isAtRow = await panel.page.evaluate('document.activeElement === document.querySelector(location.hash)');
    expect(isAtRow).toBe(true);
    await panel.press('Remove the filter “Decision: Partly accepted”');
    await panel.doesNotSee('Decision: Partly accepted');
    await panel.type('Value', 'visitor-1');
    await panel.press('Search');
    await panel.sees('Records of this person');
    await panel.sees('What was in force');
    expect(await panel.violations('person')).toEqual([]);
    await panel.pickTime('State as of', '2020-01-01T00:00:00');
    await panel.sees('There was no decision of this person at this time.');
    await panel.openFirstRow();
    await panel.press('Back to the list');
    await panel.sees('Records of this person');
    expect(await panel.page.evaluate('location.search')).toBe('?person=searched');
    await panel.openFirstRow();
    await panel.sees('The record is unchanged since it was recorded.');
    await panel.sees('Words of the banner');
    await panel.press('Show personal values');
    await panel.press('Show personal values');
    await panel.sees('visitor-1');
    expect(await panel.page.evaluate('document.activeElement.textContent')).toContain('visitor-1');
    await panel.sees('The question, drawn');
    const used = `[...document.querySelectorAll('div')].find((one) => one.shadowRoot !== null)?.shadowRoot.querySelector('[data-used]')?.textContent`;
    await panel.page.until(async () => (await panel.page.evaluate(used)) === 'Save choice');
    const policy = used.replace('[data-used]', 'details.policy summary');
    await panel.page.until(async () => (await panel.page.evaluate(policy)) === 'Cookie policy');
    await panel.page.until(
      async () => (await panel.page.evaluate(`document.querySelector('img[alt=Signature]')?.naturalWidth`)) === 1,
    );
    expect(await panel.violations('consent')).toEqual([]);
  });

  test('finds a record by what a person sent in, and a person by the reference', async () => {
    const token = z
      .string()
      .parse(
        await panel.page.evaluate(
          `[...document.querySelectorAll('dd code')].map((one) => one.textContent).find((text) => text.startsWith('ct_'))`,
        ),
      );
    await panel.press('Overview');
    await panel.isAt('Overview');
    // The key that focuses the field types nothing into it.
    await panel.page.press('/');
    expect(await panel.page.evaluate('document.activeElement.ariaLabel + document.activeElement.value')).toBe(
      'Find a record',
    );
    await panel.type('Find a record', `„${token}“`);
    await panel.press('Find');
    await panel.sees('The record is unchanged since it was recorded.');
    expect(await panel.page.evaluate(`document.querySelector('search input').value`)).toBe('');
    await panel.type('Find a record', '0'.repeat(64));
    await panel.press('Find');
    await panel.sees('Nothing was found.');
    expect(await panel.violations('finder-nothing')).toEqual([]);
    await panel.page.press('Escape');
    await panel.doesNotSee('Nothing was found.');
    await panel.type('Find a record', `ct_${'0'.repeat(32)}`);
    await panel.press('Find');
    await panel.sees('No record has this token.');
    await panel.doesNotSee('Search for a person with this value');
    expect(await panel.page.evaluate(`document.querySelector('main').innerText`)).toBe('');
    await panel.page.press('Escape');
    await panel.type('Find a record', 'visitor-1');
    await panel.press('Find');
    await panel.sees('Search for a person with this value');
    expect(await panel.violations('finder-person')).toEqual([]);
    await panel.press('Search for the person');
    await panel.sees('Records of this person');
    expect(await panel.page.evaluate('location.href')).not.toContain('visitor-1');
    await panel.openFirstRow();
    await panel.press('Show personal values');
    await panel.press('Show personal values');
    await panel.sees('The question, drawn');
  });

  test('exports the evidence of a person, and has it checked in the browser', async () => {
    await panel.press('Export for this person');
    await panel.press('Export for this person');
    await panel.isAt('Evidence');
    await panel.sees('Ready');
    await panel.sees('An export has ended: Ready.');
    expect(await panel.violations('evidence')).toEqual([]);
    await panel.press('Actions');
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
    await panel.sees('Visitor reference: visitor-1. One record loses its personal values.');
    expect(await panel.violations('erase')).toEqual([]);
    await panel.press('Erase this person');
    await panel.isAt('Receipt of the erasure');
    await panel.sees('Finished');
    await panel.sees('Time-stamped');
    expect(await panel.violations('erasure')).toEqual([]);
    await panel.press('Erasures');
    await panel.sees('All records of a person');
    expect(await panel.violations('erasures')).toEqual([]);
    await panel.press('Evidence');
    await panel.sees('because a person was erased');
  });

  test('sees the state of the organisation, and the numbers of the chart', async () => {
    await panel.press('Overview');
    await panel.isAt('Overview');
    await panel.sees('Acceptance rate');
    await panel.sees('more than in the 30 days before');
    await panel.press('7 days');
    await panel.sees('Consents in 7 days');
    await panel.sees('Tap or point at a day');
    await panel.page.evaluate(`document.querySelector('[role=slider]').focus()`);
    // Until the numbers of the chosen period are there, those of the one before are shown.
    await panel.page.until(async () => {
      await panel.page.press('End');
      const spoken = `document.querySelector('[role=slider]').getAttribute('aria-valuetext')`;
      const values = z.string().parse(await panel.page.evaluate(spoken));
      return /: Accepted \d+, Rejected \d+, Partly accepted 2, Withdrawn 0; Total \d+$/.test(values);
    });
    // The numbers of one site lead to its list.
    await panel.press('Demonstration shop', 'Consents by site');
    await panel.sees('Demonstration shop ×');
    await panel.press('2', 'Consents a day, by decision');
    await panel.isAt('Consents');
    await panel.sees('Decision: Partly accepted');
    await panel.sees('(UTC)');
    await panel.press('Overview');
    await panel.press('Show the numbers as a table');
    await panel.sees('from the development authority, no evidence');
    expect(await panel.violations('overview')).toEqual([]);
  });

  test('compares the decisions of two months', async () => {
    const month = (ago: number) => `date_trunc('month', now() at time zone 'UTC') - interval '${ago} month'`;
    await app.superuser.query(
      `insert into read_model.monthly_counts (site_id, month, property, value, decision, consents)
       select $1::uuid, ${month(1)}, 'language', v, d, n from (values ('en', 'accepted', 620), ('en', 'partial', 75),
         ('en', 'rejected', 310), ('en', 'withdrawn', 14), ('tr', 'accepted', 1204), ('tr', 'partial', 96),
         ('tr', 'rejected', 455), ('tr', 'withdrawn', 31), ('ar', 'accepted', 12), ('ar', 'rejected', 3)) as x (v, d, n)
       union all select $1::uuid, ${month(2)}, 'language', 'tr', 'accepted', 990`,
      [demo.site.id],
    );
    await panel.press('Statistics');
    await panel.isAt('Statistics');
    await panel.sees('Fewer than 10');
    await panel.sees('Not shown');
    expect(await panel.violations('statistics')).toEqual([]);
    const [before] = z
      .array(z.string())
      .parse(
        await panel.page.evaluate(
          `[...document.querySelector('select[name=beside]').options].slice(2, 3).map(({ text }) => text)`,
        ),
      );
    await panel.choose('Compare with', before ?? '');
    await panel.press('Show');
    await panel.sees('990');
    expect(await panel.violations('statistics-beside')).toEqual([]);
    await panel.press('Category');
    await panel.sees('No consents were recorded in this month.');
  });

  test('reads the audit log, the plan and the own sign-ins, and changes the password', async () => {
    await panel.press('Audit log');
    await panel.sees('Personal values erased');
    expect(await panel.violations('audit-log')).toEqual([]);
    await panel.choose('Action', 'Personal values shown');
    await panel.type('Words', 'owner@shop complaint');
    await panel.press('Apply');
    await panel.sees('Reason: a complaint');
    await panel.sees('3 shown.');
    // What was pressed may be gone: the number of the entries has the focus, and is read.
    expect(await panel.page.evaluate('document.activeElement.role')).toBe('status');
    expect(await panel.violations('audit-log-filtered')).toEqual([]);
    await panel.press('Save as CSV');
    await panel.sees('The file has 3 entries.');
    await panel.press('Clear');
    await panel.sees('Signed in');
    await panel.press('Plan and usage');
    await panel.sees('Used in this month');
    expect(await panel.violations('plan')).toEqual([]);
    await panel.openAccount();
    await panel.press('Your profile');
    await panel.sees('This one');
    await panel.type('Current password', 'not my password');
    await panel.type('New password', OTHER_PASSWORD);
    await panel.press('Change the password');
    await panel.sees('Correct the marked fields.');
    expect(await panel.violations('profile')).toEqual([]);
    await panel.type('Current password', demo.panel_user.password);
    await panel.press('Change the password');
    await panel.sees('Your password is changed.');
  });

  test('adds a second factor, signs in with a recovery code, and removes it', async () => {
    await panel.press('Add a second factor');
    await panel.type('Current password', OTHER_PASSWORD);
    await panel.press('Add a second factor');
    await panel.sees('Scan this picture');
    expect(await panel.violations('second-factor')).toEqual([]);
    const secret = await panel.codeShown();
    await panel.type('Code of the app', 'none');
    await panel.press('Confirm the code');
    await panel.sees('Correct the marked fields.');
    await panel.type('Code of the app', authenticatorCode(secret));
    await panel.press('Confirm the code');
    await panel.sees('Your recovery codes');
    expect(await panel.violations('recovery-codes')).toEqual([]);
    const [first = ''] = (await panel.codeShown()).split('\n');
    await panel.press('I have kept the codes');
    await panel.sees('Recovery codes left: 10');
    // A code works once: the next one is accepted half a minute early.
    await panel.press('Replace the recovery codes');
    await panel.type('Current password', OTHER_PASSWORD);
    await panel.type('Code of the app', authenticatorCode(secret, Date.now() + 30_000));
    expect(await panel.violations('recovery-codes-replace')).toEqual([]);
    await panel.press('Replace the recovery codes');
    await panel.sees('Your recovery codes');
    const [renewed = '', second = ''] = (await panel.codeShown()).split('\n');
    expect([renewed, second]).not.toContain(first);
    await panel.press('I have kept the codes');
    await panel.signOut();
    await panel.isAt('Sign in');
    await panel.signIn(demo.panel_user.email, OTHER_PASSWORD);
    await panel.sees('Enter the code that your authenticator app shows now.');
    expect(await panel.violations('sign-in-code')).toEqual([]);
    await panel.type('Code of your app', renewed);
    await panel.press('Sign in');
    await panel.isAt('Your profile');
    await panel.press('Remove the second factor');
    await panel.type('Current password', OTHER_PASSWORD);
    await panel.type('Code of your app', second);
    await panel.press('Remove the second factor');
    await panel.sees('You sign in with your password alone.');
  });

  test('finds what proves the records, and the files for a regulator', async () => {
    await panel.press('Time stamps');
    await panel.isAt('Time stamps');
    await panel.sees('Checkpoint of');
    expect(await panel.violations('timestamps')).toEqual([]);
    await panel.press('Read: ');
    await panel.sees('SHA256');
    await panel.sees('Serial number');
    expect(await panel.violations('timestamp')).toEqual([]);
    await panel.press('Close');
    const links = await panel.page.evaluate(
      `Promise.all([...document.querySelectorAll('main a')].slice(0, 8).map(async (link) => (await fetch(link.href)).status))`,
    );
    expect(new Set(z.array(z.number()).parse(links))).toEqual(new Set([200]));
    await panel.openAccount();
    await panel.press('Your profile');
    await panel.isAt('Your profile');
  });

  test('uses the dashboard in Turkish', async () => {
    await panel.prefer('Language', 'Türkçe');
    await panel.isAt('Profiliniz');
    expect(await panel.page.evaluate('document.documentElement.lang')).toBe('tr');
    await panel.press('Genel bakış');
    await panel.isAt('Genel bakış');
    await panel.sees('Kabul oranı');
    expect(await panel.violations('overview-tr')).toEqual([]);
    await panel.prefer('Dil', 'English');
    await panel.isAt('Overview');
  });

  test('stays signed in after the page is loaded again, and is signed out on request', async () => {
    await panel.visit('/');
    await panel.isAt('Overview');
    await panel.signOut();
    await panel.isAt('Sign in');
    await panel.visit('/');
    await panel.isAt('Sign in');
  });

  test('a new customer creates an account, and is told what to do first', async () => {
    await panel.press('Create an account');
    await panel.isAt('Create an account');
    expect(await panel.violations('sign-up')).toEqual([]);
    await panel.type('Name of your organisation', 'Florist Ltd');
    await panel.type('E-mail address', 'owner@florist.example');
    await panel.press('Continue');
    await panel.isAt('Choose your password');
    expect(await panel.violations('confirm-sign-up')).toEqual([]);
    await panel.type('New password', 'too short');
    await panel.press('Create the account');
    await panel.sees('Enter 12 characters or more.');
    await panel.type('New password', OTHER_PASSWORD);
    await panel.press('Create the account');
    await panel.isAt('Your site and its domain');
    await panel.press('Overview');
    await panel.sees('You have no site yet');
    expect(await panel.violations('overview-empty')).toEqual([]);
    await panel.press('Add a site');
    await panel.isAt('Your site and its domain');
  });

  test('the browser refused nothing by the policy', () => {
    // A frame that gets an error answer, as it does on a busy machine, reports the policy of that answer.
    // The frames' contents are asserted where the frames are opened.
    expect(panel.logged().filter((line) => !line.includes('Framing '))).toEqual([]);
  });
});
