import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readGppString } from '../../../schemas/iab/gpp-string.js';
import { VendorList } from '../../../schemas/iab/vendor-list.js';
import { ConsentLedger } from '../../../sdk/node/src/consent-ledger.js';
import type { ExportedConsent } from '../../../sdk/shared/types.js';
import { DEMO_CONFIG } from '../../../src/demo/seed/demo-texts.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { publishSiteConfig, type SiteConfig } from '../../../src/tenancy/configuration/publish-site-config.js';
import type { FindVendorList } from '../../../src/tenancy/configuration/vendor-lists.js';
import { draftVersion } from '../../../src/tenancy/documents/drafts.js';
import { activateVersion, publishVersion } from '../../../src/tenancy/documents/version-states.js';
import { ask, type RunningApp, startApp } from '../../api/server/running-app.js';
import { chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { FaultyFront } from '../faulty-front.js';
import { inventedVendorList } from '../iab/vendor-list.js';
import { Shop } from './shop.js';
import { Visitor } from './visitor.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../sdk/browser/dist/consent.js', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built SDK,', canRun, 'the browser SDK in Chromium'), () => {
  let app: RunningApp;
  let demo: SeededDemo;
  let front: FaultyFront;
  let shop: Shop;
  let visitor: Visitor;
  let ledger: ConsentLedger;
  beforeAll(async () => {
    shop = await Shop.open();
    app = await startApp('serve', {
      GEO_COUNTRY_HEADER: 'x-country',
      GEO_REGION_HEADER: 'x-region',
      TRUSTED_PROXIES: '127.0.0.1',
    });
    front = await FaultyFront.open(app.url);
    demo = await app.seed({ allowedOrigins: [shop.origin] });
    shop.use(front.url, demo.keys.write);
    ledger = new ConsentLedger({ baseUrl: app.url, apiKey: demo.keys.write, user: demo.api_user });
    visitor = await Visitor.start(chromiumPath ?? '', shop);
  });
  afterAll(async () => {
    await visitor?.page.close();
    await front?.close();
    await app?.stop();
    await shop?.close();
  });
  beforeEach(async () => {
    await visitor.forget();
    front.received.length = 0;
    shop.requested.length = 0;
    shop.use(front.url, demo.keys.write);
  });

  /** Waits for a number of records of the visitor. @returns the records */
  const recordsOf = async (count: number, id?: string): Promise<readonly ExportedConsent[]> => {
    const visitor_id = id ?? (await visitor.id());
    const records: ExportedConsent[] = [];
    await expect
      .poll(async () => {
        records.length = 0;
        for await (const record of ledger.exportRecords({ visitor_id })) records.push(record);
        return records.length;
      })
      .toBe(count);
    return records;
  };

  test('the banner comes back when a page replaces its body or its root, and settings open', async () => {
    await visitor.visit({ body: '<button type="button" data-consent-settings>Cookie settings</button>' });
    const returns = (change: string): Promise<void> =>
      visitor.page
        .evaluate(`(${change}, true)`)
        .then(() => visitor.page.until(async () => (await visitor.sees('section')) === true));
    await returns(`document.body.innerHTML = '<p>Next page</p>'`);
    await returns(`document.documentElement.replaceChild(document.createElement('body'), document.body)`);
    await returns(`document.querySelector('consent-banner').remove()`);
    await returns(`document.replaceChild(document.createElement('html'), document.documentElement)`);
    await visitor.page.evaluate(
      `document.querySelector('consent-banner').remove(), consentLedger.banner.then((banner) => banner.openSettings())`,
    );
    expect(await visitor.sees('dialog[open]')).toBe(true);
    await visitor.click('accept');
    await visitor.acceptedToken();
  });

  test('a link within a shadow root opens the settings; neither banner nor its room is printed', async () => {
    await visitor.visit();
    await visitor.page.evaluate(`(() => {
      const host = document.body.appendChild(document.createElement('div'));
      host.attachShadow({ mode: 'open' }).innerHTML = '<footer><a href="#" data-consent-settings><span>Cookies</span></a></footer>';
      host.shadowRoot.querySelector('span').click();
    })()`);
    expect(await visitor.sees('dialog[open]')).toBe(true);
    await visitor.page.send('Emulation.setEmulatedMedia', { media: 'print' });
    expect(await visitor.page.evaluate(`getComputedStyle(document.querySelector('consent-banner')).display`)).toBe(
      'none',
    );
    expect(await visitor.page.evaluate('getComputedStyle(document.documentElement).paddingBlockEnd')).toBe('0px');
    await visitor.page.send('Emulation.setEmulatedMedia', { media: '' });
  });

  test('the script included twice starts once and warns; one that does not know its element starts', async () => {
    await visitor.visit({ attributes: '></script><script nonce="c2hvcA" src="/consent.js"' });
    expect(await visitor.page.evaluate(`document.querySelectorAll('consent-banner').length`)).toBe(1);
    expect(JSON.stringify(visitor.page.events('Runtime.consoleAPICalled'))).toContain('the script is there twice');
    await visitor.visit({ attributes: 'type="module"' });
    expect(await visitor.sees('section')).toBe(true);
  });

  test('accept: recorded, kept in the cookie, and permitted scripts run', async () => {
    await visitor.visit();
    expect(await visitor.sees('section')).toBe(true);
    expect(await visitor.ran()).toEqual([]);
    expect(await visitor.page.evaluate('Object.keys(localStorage)')).toEqual(['_svc_consent:config:en']);
    await visitor.click('accept');
    const token = await visitor.acceptedToken();
    expect(await visitor.sees('section')).toBe(false);
    await expect.poll(() => visitor.ran()).toEqual(['/analytics.js', 'inline marketing']);
    const [record] = await recordsOf(1);
    expect(record).toMatchObject({
      consent_token: token,
      consent_type: 'cookie',
      decision: 'accepted',
      categories: { necessary: true, analytics: true, marketing: true },
      channel: 'browser',
      language: 'en',
      source: 'client',
      ip_address: '127.0.0.1',
      user_agent: expect.stringContaining('Chrome'),
    });
    const checked = await ask(
      `${app.url}/api/v1/public/consents/verify?token=${encodeURIComponent(JSON.stringify(await visitor.cookie()))}`,
    );
    expect(checked.body).toMatchObject({ valid: true, source: 'server', data: { decision: 'accepted' } });
    expect(await visitor.page.evaluate('consentLedger.consent.records()')).toMatchObject([
      { consent_token: token, promise: { text: expect.stringMatching(/^consent-ledger promise v1\n/) } },
    ]);
  });

  test('refuse: recorded, nothing optional runs, and the next page does not ask', async () => {
    await visitor.visit();
    await visitor.click('reject');
    await visitor.acceptedToken();
    expect(await recordsOf(1)).toMatchObject([
      { decision: 'rejected', categories: { necessary: true, analytics: false, marketing: false } },
    ]);
    await visitor.visit();
    expect(await visitor.status()).toBe('chosen');
    expect(await visitor.sees('section')).toBe(false);
    expect(await visitor.ran()).toEqual([]);
    expect(shop.requested).toEqual([]);
  });

  test('change and withdraw in the settings: one record each, in order', async () => {
    await visitor.visit();
    await visitor.click('settings');
    await visitor.tick(true, false);
    await visitor.click('save');
    const first = await visitor.acceptedToken();
    await expect.poll(() => visitor.ran()).toEqual(['/analytics.js']);
    await visitor.visit();
    await expect.poll(() => visitor.ran()).toEqual(['/analytics.js']);
    await visitor.click('settings');
    expect(
      await visitor.inBanner(`[...banner.querySelectorAll('dialog input')].map((input) => input.checked)`),
    ).toEqual([true, false]);
    await visitor.click('reject');
    await visitor.page.until(async () => (await visitor.acceptedToken()) !== first);
    expect(await recordsOf(2)).toMatchObject([
      { decision: 'partial', categories: { analytics: true, marketing: false } },
      { decision: 'withdrawn', categories: { analytics: false, marketing: false } },
    ]);
    await visitor.visit();
    expect(await visitor.ran()).toEqual([]);
  });

  test('the site’s own link opens the settings, and no button is added', async () => {
    await visitor.visit({ body: '<button type="button" data-consent-settings>Cookie settings</button>' });
    await visitor.click('accept');
    expect(await visitor.sees('.open')).toBe(false);
    await visitor.page.evaluate(`document.querySelector('[data-consent-settings]').click()`);
    await visitor.page.until(async () => (await visitor.sees('dialog[open]')) === true);
  });

  test('offline: the choice is in force, kept in order, and recorded once the network is back', async () => {
    await visitor.visit();
    await visitor.offline();
    await visitor.click('accept');
    // It follows a script that cannot be loaded.
    await expect.poll(() => visitor.ran()).toEqual(['inline marketing']);
    await visitor.click('settings');
    await visitor.click('reject');
    await expect.poll(() => visitor.queued()).toBe(2);
    expect((await visitor.cookie())?.consent_token).toBeUndefined();
    await visitor.online();
    await visitor.acceptedToken();
    await expect.poll(() => visitor.queued()).toBe(0);
    expect(await recordsOf(2)).toMatchObject([{ decision: 'accepted' }, { decision: 'withdrawn' }]);
  });

  test('a page that was opened without an answer asks once the service is there, after Retry-After of a 503', async () => {
    await visitor.page.send('Network.setBlockedURLs', { urls: [`${front.url}/*`] });
    await visitor.visit();
    expect(await visitor.status()).toBe('unavailable');
    expect(await visitor.errorCode()).toBe('NO_ANSWER');
    await visitor.page.send('Network.setBlockedURLs', { urls: [] });
    front.injectReads({ status: 503, code: 'SERVICE_UNAVAILABLE', headers: { 'retry-after': '1' } });
    await visitor.offline();
    await visitor.online();
    await visitor.page.until(async () => (await visitor.status()) === 'needed');
    expect(await visitor.sees('section')).toBe(true);
    expect(await visitor.errorCode()).toBeNull();
  });

  test('a page that is left before the service answers: the next page finishes, with one record', async () => {
    await visitor.visit();
    front.inject('lost');
    await visitor.click('accept');
    await visitor.page.until(async () => front.received.length > 0);
    await visitor.page.goto(`${shop.origin}/other`);
    await visitor.visit();
    const token = await visitor.acceptedToken();
    expect(new Set(front.received.map(({ body }) => body)).size).toBe(1);
    expect(await recordsOf(1)).toMatchObject([{ consent_token: token }]);
  });

  test('an answer of which only the head arrives is none: the choice stays, and is recorded once', async () => {
    await visitor.visit();
    front.inject('cut');
    await visitor.click('accept');
    const token = await visitor.acceptedToken();
    expect(front.received).toHaveLength(2);
    expect(await recordsOf(1)).toMatchObject([{ consent_token: token }]);
  });

  test('a page that is left at once: the choice is recorded', async () => {
    await visitor.visit();
    await visitor.inBanner(`(banner.querySelector('[part=accept]').click(), location.assign('/other'))`);
    await visitor.page.until(async () => shop.requested.includes('/other'));
    await visitor.visit();
    await visitor.acceptedToken();
    expect(await recordsOf(1)).toMatchObject([{ decision: 'accepted' }]);
  });

  test('503 and 429: the same body and key, with a new timestamp, nonce and signature, after Retry-After', async () => {
    await visitor.visit();
    front.inject(
      { status: 503, code: 'QUEUE_OVERLOADED', headers: { 'retry-after': '1' } },
      { status: 429, code: 'RATE_LIMIT_EXCEEDED', headers: { 'retry-after': '1' } },
    );
    await visitor.click('accept');
    await visitor.acceptedToken();
    expect(front.received).toHaveLength(3);
    expect(new Set(front.received.map(({ body }) => body)).size).toBe(1);
    for (const header of ['x-nonce', 'x-signature', 'x-timestamp'])
      expect(new Set(front.received.map(({ headers }) => headers[header])).size).toBe(3);
  });

  test('a wrong clock is corrected by the time of the service', async () => {
    const source = `{ const now = Date.now.bind(Date); Date.now = () => now() + 7_200_000; }`;
    const { identifier } = await visitor.page.send('Page.addScriptToEvaluateOnNewDocument', { source });
    try {
      await visitor.visit();
      await visitor.click('accept');
      await visitor.acceptedToken();
      const [refused, accepted] = front.received.map(({ headers }) => Number(headers['x-timestamp']));
      expect(Number(refused) - Number(accepted)).toBeGreaterThan(7_000);
      expect(await recordsOf(1)).toMatchObject([{ decision: 'accepted' }]);
    } finally {
      await visitor.page.send('Page.removeScriptToEvaluateOnNewDocument', { identifier });
    }
  });

  test('a refused origin: nothing is asked, nothing optional runs, and the console says why', async () => {
    const other = await app.seed({ allowedOrigins: ['https://elsewhere.example'] });
    shop.use(front.url, other.keys.write);
    await visitor.visit();
    expect(await visitor.status()).toBe('unavailable');
    // Whether the page can read the refusal is the service's choice.
    expect(['NO_ANSWER', 'ORIGIN_NOT_ALLOWED']).toContain(await visitor.errorCode());
    expect(await visitor.sees('section')).toBe(false);
    expect(await visitor.ran()).toEqual([]);
    expect(JSON.stringify(visitor.page.events('Runtime.consoleAPICalled'))).toContain('allowed origins');
  });

  test('a key without the scope write: the choice is not relied on', async () => {
    shop.use(front.url, demo.keys.read);
    await visitor.visit();
    await visitor.click('accept');
    await visitor.page.until(async () => (await visitor.status()) === 'unavailable');
    expect(await visitor.errorCode()).toBe('INSUFFICIENT_SCOPE');
    expect(await visitor.cookie()).toBeNull();
    expect(await visitor.queued()).toBe(0);
  });

  test('a cookie policy that changed while the page was open: the visitor is asked again, by the new text', async () => {
    const db = app.service.installation.adminPool;
    const policy = demo.documents.find(({ kind }) => kind === 'cookie_policy');
    const publish = async (content: string): Promise<string> => {
      const draft = { siteId: demo.site.id, documentId: policy?.id ?? '', language: 'en', title: 'Cookie policy' };
      const { id } = await draftVersion(db, { ...draft, mediaType: 'text/markdown', content });
      await publishVersion(db, demo.site.id, id);
      await activateVersion(db, demo.site.id, id);
      const isRead = async () => (await ledger.documents('en')).some(({ version }) => version.id === id);
      await expect.poll(isRead).toBe(true);
      return id;
    };
    await visitor.visit();
    const newest = await publish('# Visits\n\nWe count them only if you agree.');
    await visitor.click('accept');
    await visitor.page.until(async () => (await visitor.status()) === 'needed');
    expect(await visitor.sees('section')).toBe(true);
    expect(await visitor.cookie()).toBeNull();
    await visitor.click('accept');
    await visitor.acceptedToken();
    expect(await recordsOf(1)).toMatchObject([{ document_version_id: newest }]);
    // The visitor reads the words, without the marks of Markdown.
    await visitor.click('settings');
    await visitor.inBanner(`banner.querySelector('dialog[open] .policy').open = true`);
    const read = () => visitor.inBanner(`banner.querySelector('dialog[open] .policy .text').textContent`);
    await visitor.page.until(async () => (await read()) === 'Visits\n\nWe count them only if you agree.');
    await publish('We count visits only if you agree, and forget them after a day.');
    await visitor.visit();
    expect(await visitor.status()).toBe('chosen');
    await visitor.page.evaluate(`Object.keys(localStorage).filter((name) => name.includes('config')).forEach((name) => {
      localStorage[name] = JSON.stringify({ ...JSON.parse(localStorage[name]), readAt: 0 });
    })`);
    await visitor.visit();
    await visitor.page.until(async () => (await visitor.status()) === 'needed');
  });

  test('a configuration that an earlier version of the script kept is read anew', async () => {
    await visitor.visit();
    await visitor.click('accept');
    await visitor.acceptedToken();
    await visitor.page.evaluate(`Object.keys(localStorage).filter((name) => name.includes('config')).forEach((name) => {
      const { configuration: { labels, ...old }, ...cached } = JSON.parse(localStorage[name]);
      localStorage[name] = JSON.stringify({ ...cached, configuration: old });
    })`);
    await visitor.visit();
    expect(await visitor.status()).toBe('chosen');
    await visitor.click('settings');
    expect(await visitor.inBanner(`banner.querySelector('dialog[open] [part=save]').textContent`)).toBe('Save choice');
  });

  test('Global Privacy Control: no banner, nothing optional; a choice in the settings still counts', async () => {
    const source = `Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { value: true });`;
    const { identifier } = await visitor.page.send('Page.addScriptToEvaluateOnNewDocument', { source });
    try {
      await visitor.visit();
      expect(await visitor.status()).toBe('signalled');
      expect(await visitor.sees('section')).toBe(false);
      expect(await visitor.ran()).toEqual([]);
      await visitor.click('settings');
      await visitor.tick(true, false);
      await visitor.click('save');
      await visitor.acceptedToken();
      expect(await recordsOf(1)).toMatchObject([{ decision: 'partial', metadata: { gpc: true } }]);
    } finally {
      await visitor.page.send('Page.removeScriptToEvaluateOnNewDocument', { identifier });
    }
  });

  test('Global Privacy Control in California: one opt-out is recorded, and no page repeats it', async () => {
    const source = `Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { value: true });`;
    const { identifier } = await visitor.page.send('Page.addScriptToEvaluateOnNewDocument', { source });
    Object.assign(front.added, { 'x-country': 'US', 'x-region': 'CA' });
    try {
      await visitor.visit();
      expect(await recordsOf(1)).toMatchObject([
        {
          consent_type: 'do_not_sell_opt_out',
          decision: 'accepted',
          compliance_framework: 'ccpa',
          metadata: { gpc: true },
        },
      ]);
      await visitor.visit();
      await visitor.click('settings');
      await visitor.click('reject');
      await visitor.acceptedToken();
      expect(await recordsOf(2)).toMatchObject([{ consent_type: 'do_not_sell_opt_out' }, { consent_type: 'cookie' }]);
    } finally {
      delete front.added['x-country'];
      delete front.added['x-region'];
      await visitor.page.send('Page.removeScriptToEvaluateOnNewDocument', { identifier });
    }
  });

  describe('with signals of IAB', () => {
    const db = () => app.service.installation.adminPool;
    // The browser keeps a configuration for a minute.
    beforeEach(() => visitor.page.send('Network.clearBrowserCache'));
    /** Publishes a configuration, and waits until the service serves it, which reads it again after some seconds. */
    const publish = async (config: SiteConfig, findVendorList?: FindVendorList): Promise<void> => {
      const { sha256 } = await publishSiteConfig(db(), demo.site.id, config, {
        forAnyDomain: true,
        ...(findVendorList !== undefined && { findVendorList }),
      });
      await expect.poll(() => ledger.configuration().then(({ site_config_hash }) => site_config_hash)).toBe(sha256);
    };
    afterEach(async () => {
      await visitor.page.send('Network.clearBrowserCache');
      await publish(DEMO_CONFIG);
      for (const name of Object.keys(front.added)) delete front.added[name];
    });
    /** Sections, opt-outs and Global Privacy Control as an advertiser asks for them. */
    const said = async (): Promise<unknown> =>
      visitor.page.evaluate(
        `new Promise((resolve) => __gpp('ping', ({ applicableSections, gppString, signalStatus }) => resolve({ applicableSections, gppString, signalStatus })))`,
      );
    const publishGpp = () =>
      publish({ ...DEMO_CONFIG, iab: { gpp: { cmp_id: 1, sections: ['usca'], opt_out: ['marketing'] } } });
    const optOuts = (value: string) => ({ SaleOptOut: value, SharingOptOut: value });

    test('in California, __gpp says what the visitor decided, and the record keeps it', async () => {
      await publishGpp();
      Object.assign(front.added, { 'x-country': 'US', 'x-region': 'CA' });
      await visitor.visit({ before: ['iab-stub'] });
      expect(await said()).toMatchObject({ applicableSections: [8], signalStatus: 'ready' });
      await visitor.click('accept');
      await visitor.acceptedToken();
      await visitor.page.evaluate('consentLedger.consent.optOutOfSale().then(() => true)');
      const strings = (await recordsOf(2)).map(({ iab }) => iab?.gpp_string ?? '');
      expect(strings.map((text) => readGppString(text)?.sections)).toEqual([
        [{ section: 'usca', optOuts: optOuts('not_opted_out'), gpc: false }],
        [{ section: 'usca', optOuts: optOuts('opted_out'), gpc: false }],
      ]);
      // The opt-out stands on later pages, beside the permission that was given before.
      await visitor.visit({ before: ['iab-stub'] });
      expect(await said()).toMatchObject({ gppString: strings[1] });
    });

    test('after every signal is turned off, the configuration names none', async () => {
      await publish({ ...DEMO_CONFIG, iab: {} });
      expect('iab' in (await ledger.configuration())).toBe(false);
    });

    test('elsewhere no section applies, and the record has no string', async () => {
      await publishGpp();
      Object.assign(front.added, { 'x-country': 'DE' });
      await visitor.visit({ before: ['iab-stub'] });
      expect(await said()).toMatchObject({ applicableSections: [-1], signalStatus: 'ready' });
      await visitor.click('accept');
      await visitor.acceptedToken();
      expect(await recordsOf(1)).toMatchObject([{ decision: 'accepted', iab: null }]);
    });

    test('a vendor list that the service does not have keeps no visitor from choosing', async () => {
      const tcf = {
        cmp_id: 300,
        cmp_version: 2,
        publisher_country: 'DE',
        vendor_list: { version: 120, sha256: '0'.repeat(64) },
        vendors: [2],
        purposes: { marketing: [1] },
        special_features: {},
      };
      const list = VendorList.parse(inventedVendorList(120, [2]));
      const findVendorList = async () => ({ bytes: Buffer.from(''), list });
      await publish({ ...DEMO_CONFIG, iab: { tcf } }, findVendorList);
      await visitor.page.send('Runtime.enable');
      await visitor.visit({ before: ['iab-stub'] });
      await visitor.click('accept');
      await visitor.acceptedToken();
      expect(await recordsOf(1)).toMatchObject([{ decision: 'accepted', iab: null }]);
      await expect
        .poll(() => JSON.stringify(visitor.page.events('Runtime.consoleAPICalled')))
        .toContain('No signals of IAB');
    });
  });

  test('the script that the service serves needs no address of the service', async () => {
    shop.show({ isServedByService: true });
    await visitor.page.goto(`${shop.origin}/`);
    await visitor.page.until(async () => (await visitor.sees('section')) === true);
    await visitor.click('reject');
    expect(await visitor.acceptedToken()).toMatch(/^ct_/);
  });

  test('Google Consent Mode v2: denied by default before the choice, updated by it', async () => {
    const commands = `(window.dataLayer ?? []).filter(({ event }) => event === undefined).map((command) => [command[0], command[1], command[2].analytics_storage, command[2].ad_user_data])`;
    await visitor.visit({ attributes: 'data-google-consent-mode' });
    expect(await visitor.page.evaluate(commands)).toEqual([['consent', 'default', 'denied', 'denied']]);
    await visitor.click('settings');
    await visitor.tick(true, false);
    await visitor.click('save');
    await visitor.acceptedToken();
    expect(await visitor.page.evaluate(`${commands}.at(-1)`)).toEqual(['consent', 'update', 'granted', 'denied']);
    expect(await visitor.page.evaluate(`Object.prototype.toString.call(dataLayer[0])`)).toBe('[object Arguments]');
  });

  test('headless: a page approves a document with the token of its backend', async () => {
    const { approval_token } = await ledger.mintApprovalToken({
      document_slug: 'explicit-consent',
      subject: 'customer-1',
      signer_name: 'Ada Example',
    });
    await visitor.visit({ attributes: `data-approval-token="${approval_token}"` });
    const shown = await visitor.page.evaluate(`(async () => {
      const { consent } = consentLedger;
      const shown = await consent.document('explicit-consent');
      const { consent_token } = await consent.approve(shown, { decision: 'accepted', declaration_text: 'I agree.' });
      return [shown.content, consent_token];
    })()`);
    expect(shown).toEqual([expect.stringMatching(/^I agree that my name/), expect.stringMatching(/^ct_/)]);
    expect(await recordsOf(1, 'customer-1')).toMatchObject([
      {
        consent_type: 'document_approval',
        channel: 'browser',
        identity_assurance: 'tenant_attested',
        signer_name: 'Ada Example',
      },
    ]);
  });

  test('headless: the console shows once what the service warns of', async () => {
    const { approval_token } = await ledger.mintApprovalToken({
      document_slug: 'explicit-consent',
      subject: 'customer-9',
    });
    await visitor.visit({ attributes: `data-approval-token="${approval_token}"` });
    const warnings = () =>
      visitor.page
        .events('Runtime.consoleAPICalled')
        .filter((event) => JSON.stringify(event).includes('declaration_txt'));
    const before = warnings().length;
    await visitor.page.evaluate(`(async () => {
      const { consent } = consentLedger;
      const shown = await consent.document('explicit-consent');
      await consent.approve(shown, { decision: 'accepted', declaration_txt: 'I agree.' });
    })()`);
    expect(warnings().length - before).toBe(1);
    expect(JSON.stringify(warnings().at(-1))).toContain('declaration_text');
  });

  test('headless: a page draws its own banner with the module', async () => {
    shop.show({
      module: `
        import { Consent, gateContent } from '/index.js';
        const consent = new Consent({ baseUrl: ${JSON.stringify(front.url)}, apiKey: ${JSON.stringify(demo.keys.write)}, visitorId: 'customer-2' });
        gateContent(consent);
        const { status, configuration } = await consent.start();
        const { consent_token } = await consent.choose({ analytics: true });
        window.result = [status, configuration.categories.map(({ key }) => key), consent_token, consent.allows('analytics'), consent.allows('marketing')];
      `,
    });
    await visitor.page.goto(`${shop.origin}/`);
    await visitor.page.until(async () => (await visitor.page.evaluate('window.result !== undefined')) === true);
    const token = await visitor.acceptedToken();
    const keys = ['necessary', 'analytics', 'marketing'];
    expect(await visitor.page.evaluate('window.result')).toEqual(['needed', keys, token, true, false]);
    await expect.poll(() => visitor.ran()).toEqual(['/analytics.js']);
    expect(await recordsOf(1, 'customer-2')).toMatchObject([{ consent_token: token, decision: 'partial' }]);
    expect(await visitor.sees('section')).toBe(false);
  });

  test('headless: a listener that throws keeps no choice from the service, and no content from the visitor', async () => {
    shop.show({
      body: `<img data-consent="analytics" data-consent-src="/favicon.ico" alt="Map">
        <iframe data-consent="analytics" data-consent-src=" java&#10;script:parent.ran = ['evil']" title="Evil"></iframe>`,
      module: `
        import { Consent, gateContent } from '/index.js';
        const consent = new Consent({ baseUrl: ${JSON.stringify(front.url)}, apiKey: ${JSON.stringify(demo.keys.write)}, visitorId: 'customer-5' });
        await consent.start();
        let isReady = false;
        consent.subscribe(() => { if (isReady) throw new Error('a fault of the page'); });
        isReady = true;
        gateContent(consent);
        window.faults = [];
        addEventListener('error', (event) => { window.faults.push(event.message); event.preventDefault(); });
        await consent.choose({ analytics: true });
        const sources = () => [...document.querySelectorAll('main [data-consent]')].map((one) => one.getAttribute('src'));
        // The file that gates content may come later than the answer.
        while (sources()[0] === null) await new Promise(requestAnimationFrame);
        const permitted = sources();
        const second = await consent.rejectAll();
        window.result = [second.duplicate, permitted, sources()];
      `,
    });
    await visitor.page.goto(`${shop.origin}/`);
    await visitor.page.until(async () => (await visitor.page.evaluate('window.result !== undefined')) === true);
    expect(await visitor.page.evaluate('window.result')).toEqual([false, ['/favicon.ico', null], [null, null]]);
    expect(await visitor.page.evaluate('window.faults.length')).toBeGreaterThanOrEqual(2);
    const decisions = (await recordsOf(2, 'customer-5')).map(({ decision }) => decision);
    expect(decisions).toEqual(['partial', 'withdrawn']);
  });

  test('two tabs: each choice has its record and its answer, whichever tab sends it', async () => {
    const options = { baseUrl: front.url, apiKey: demo.keys.write, visitorId: 'customer-3' };
    shop.show({
      module: `
        import { Consent } from '/index.js';
        // Two instances share storage and locks, as two tabs do.
        const [one, other] = [1, 2].map(() => new Consent(${JSON.stringify(options)}));
        await Promise.all([one.start(), other.start()]);
        const answers = await Promise.all([one.acceptAll(), other.rejectAll(), one.choose({ analytics: true })]);
        window.result = answers.map(({ consent_token, duplicate }) => [consent_token, duplicate]);
      `,
    });
    await visitor.page.goto(`${shop.origin}/`);
    await visitor.page.until(async () => (await visitor.page.evaluate('window.result !== undefined')) === true);
    const records = await recordsOf(3, 'customer-3');
    expect(records.map(({ decision }) => decision)).toEqual(['accepted', 'withdrawn', 'partial']);
    expect(await visitor.page.evaluate('window.result')).toEqual(
      records.map(({ consent_token }) => [consent_token, false]),
    );
  });

  test('sends where the browser refuses locks, as in a sandboxed frame', async () => {
    const options = { baseUrl: front.url, apiKey: demo.keys.write, visitorId: 'customer-4' };
    shop.show({
      module: `
        import { Consent } from '/index.js';
        LockManager.prototype.request = async () => { throw new DOMException('denied', 'SecurityError'); };
        const consent = new Consent(${JSON.stringify(options)});
        await consent.start();
        window.result = (await consent.acceptAll()).duplicate;
      `,
    });
    await visitor.page.goto(`${shop.origin}/`);
    await visitor.page.until(async () => (await visitor.page.evaluate('window.result !== undefined')) === true);
    expect(await visitor.page.evaluate('window.result')).toBe(false);
    expect((await recordsOf(1, 'customer-4')).map(({ decision }) => decision)).toEqual(['accepted']);
  });

  test('a page without a secure context asks nothing, and says why', async () => {
    const insecure = await Visitor.start(chromiumPath ?? '', shop, [
      '--host-resolver-rules=MAP shop.example 127.0.0.1',
    ]);
    try {
      await insecure.visit({}, `http://shop.example:${shop.port}`);
      expect(await insecure.status()).toBe('unavailable');
      expect(await insecure.errorCode()).toBe('INSECURE_CONTEXT');
      expect(await insecure.sees('section')).toBe(false);
    } finally {
      await insecure.page.close();
    }
  });

  test('the content security policy of the page was never violated, and a violation would be seen', async () => {
    const violations = () => JSON.stringify(visitor.page.events('Log.entryAdded')).includes('Content Security Policy');
    expect(violations()).toBe(false);
    await visitor.visit({ body: '<p style="color: red">Red</p>' });
    await visitor.page.until(async () => violations());
  });
});
