import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { CONSENT_RECORDED } from '../../../schemas/events/consent-recorded.js';
import { DEMO_CONFIG } from '../../../src/demo/seed/demo-texts.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { createApiKey } from '../../../src/tenancy/api-keys/api-keys.js';
import { changeConfigDraft } from '../../../src/tenancy/configuration/draft.js';
import { DRAFT_LINK_SECONDS, newDraftToken } from '../../../src/tenancy/configuration/draft-link.js';
import { publishSiteConfig } from '../../../src/tenancy/configuration/publish-site-config.js';
import { ask, get, type RunningApp, startApp } from '../../api/server/running-app.js';
import { violationsOf } from '../../support/axe.js';
import { chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { until } from '../../support/wait.js';
import { Shop } from './shop.js';
import { Visitor } from './visitor.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../sdk/browser/dist/placeholder.js', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;
/** Folder for pictures, to look at. */
const { BANNER_PICTURES: PICTURES } = process.env;
const Config = z.object({ data: z.object({ service_switches: z.boolean().optional() }) });
const Kept = z.object({ consent_token: z.string() });
const SERVICES = [
  { key: 'youtube', name: 'YouTube', recipient: 'Google Ireland', policy_url: 'https://policies.example/youtube' },
  { key: 'vimeo', name: 'Vimeo', recipient: 'Vimeo.com, Inc.', policy_url: null },
];

/** The demonstration's configuration, in which visitors read or accept the services of one category. */
const configuration = (hasSwitches: boolean) => ({
  ...DEMO_CONFIG,
  categories: DEMO_CONFIG.categories.map((one) => (one.key === 'marketing' ? { ...one, services: SERVICES } : one)),
  service_switches: hasSwitches,
});

/** Keeps the consents that the page sends, and what the service answers. */
const RECORDER = `{
  const real = window.fetch;
  window.sent = [];
  window.answered = [];
  window.fetch = async (url, init) => {
    const isConsent = init?.method === 'POST' && new URL(url).pathname.endsWith('/consents');
    if (isConsent) sent.push(JSON.parse(init.body));
    const answer = await real(url, init);
    if (isConsent) answered.push(answer.status);
    return answer;
  };
}`;

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built SDK,', canRun, 'services of a category'), () => {
  let app: RunningApp;
  let shop: Shop;
  let visitor: Visitor;
  let frame: string;
  /** A host that visitors may use, other than this machine. */
  let live: string;
  let demo: SeededDemo;
  beforeAll(async () => {
    shop = await Shop.open();
    app = await startApp('serve');
    live = `http://www.shop.localhost:${shop.port}`;
    demo = await app.seed({ allowedOrigins: [shop.origin, live] });
    shop.use(app.url, demo.keys.write);
    frame = `http://media.localhost:${shop.port}/film`;
    await publish(true);
    visitor = await Visitor.start(chromiumPath ?? '', shop, ['--host-resolver-rules=MAP *.localhost 127.0.0.1']);
  });
  afterAll(async () => {
    await visitor?.page.close();
    await app?.stop();
    await shop?.close();
  });
  const publish = async (hasSwitches: boolean): Promise<void> => {
    await publishSiteConfig(app.service.installation.adminPool, demo.site.id, configuration(hasSwitches));
    const read = async () => Config.parse((await get(app, '/tool/v1/config', demo.keys.read)).body).data;
    await until(async () => (await read()).service_switches === hasSwitches);
  };
  beforeEach(() => visitor.forget());
  afterEach(() => visitor.page.send('Emulation.clearDeviceMetricsOverride'));

  const film = (service: string) =>
    `<iframe data-consent="marketing" data-consent-service="${service}" data-consent-src="${frame}/${service}" data-consent-placeholder title="Our garden in June" width="560" height="315"></iframe>`;
  const script = `<script nonce="c2hvcA" type="text/plain" data-consent-service="youtube" src="/youtube.js"></script>`;
  const visit = async (body = film('youtube') + film('vimeo') + script): Promise<void> => {
    await visitor.visit({ body, before: [RECORDER] });
    await expect
      .poll(() =>
        visitor.page.evaluate(
          `document.querySelector('consent-placeholder')?.shadowRoot?.querySelectorAll('button').length ?? 0`,
        ),
      )
      .toBe(2);
  };
  const sources = () =>
    visitor.page.evaluate(`[...document.querySelectorAll('iframe')].map((one) => one.getAttribute('src') ?? '')`);
  /** The switches of the settings: name or value, and whether on, off or undecided. */
  const switches = () =>
    visitor.inBanner(
      `[...banner.querySelectorAll('dialog.settings input')].map((one) => (one.name || one.value) + ' ' + (one.indeterminate ? 'some' : one.checked ? 'on' : 'off'))`,
    );
  const press = (selector: string) => visitor.inBanner(`banner.querySelector('dialog.settings ${selector}').click()`);
  /** The next consent that the page sent. */
  const next = async () => {
    await expect.poll(() => visitor.page.evaluate('answered.shift()')).toBe(202);
    return z
      .object({
        decision: z.string(),
        categories: z.record(z.string(), z.boolean()),
        services: z.record(z.string(), z.boolean()).optional(),
      })
      .parse(await visitor.page.evaluate('sent.shift()'));
  };
  const picture = async (name: string): Promise<void> => {
    if (PICTURES === undefined) return;
    mkdirSync(PICTURES, { recursive: true });
    writeFileSync(join(PICTURES, `services-${name}.png`), await visitor.page.screenshot());
  };

  test('the settings name each service, and the switches of a category and of its services agree', async () => {
    await visit();
    await visitor.click('settings');
    expect(
      await visitor.inBanner(`[...banner.querySelectorAll('.services li')].map((one) => one.textContent.trim())`),
    ).toEqual(['YouTube, Google Ireland Privacy policy (new tab)', 'Vimeo, Vimeo.com, Inc.']);
    const link = `banner.querySelector('.services a')`;
    expect(await visitor.inBanner(`[${link}.href, ${link}.rel, ${link}.target]`)).toEqual([
      'https://policies.example/youtube',
      'noreferrer',
      '_blank',
    ]);
    expect(await switches()).toEqual(['analytics off', 'marketing off', 'youtube off', 'vimeo off']);
    await press('[value=youtube]');
    expect(await switches()).toEqual(['analytics off', 'marketing some', 'youtube on', 'vimeo off']);
    await press('[value=vimeo]');
    expect(await switches()).toEqual(['analytics off', 'marketing on', 'youtube on', 'vimeo on']);
    await press('[name=marketing]');
    expect(await switches()).toEqual(['analytics off', 'marketing off', 'youtube off', 'vimeo off']);
    await press('[name=marketing]');
    await visitor.inBanner(`banner.querySelector('[value=vimeo]').focus()`);
    await visitor.page.press(' ');
    expect(await switches()).toEqual(['analytics off', 'marketing some', 'youtube on', 'vimeo off']);
    await visitor.page.send('Emulation.setDeviceMetricsOverride', {
      width: 390,
      height: 844,
      deviceScaleFactor: 1,
      mobile: true,
    });
    expect(await visitor.inBanner(`banner.querySelector('dialog.settings').scrollWidth <= 390`)).toBe(true);
    expect(await violationsOf(visitor.page, 'services', (scheme) => picture(scheme))).toEqual([]);
    await visitor.click('save');
    expect(await next()).toMatchObject({
      decision: 'partial',
      categories: { necessary: true, analytics: false, marketing: false },
      services: { youtube: true, vimeo: false },
    });
    expect(await visitor.cookie()).toMatchObject({
      categories: 'necessary.!analytics.!marketing',
      services: 'youtube.!vimeo',
    });
    await expect.poll(sources).toEqual([`${frame}/youtube`, '']);
    await expect.poll(() => visitor.ran()).toEqual(['/youtube.js']);
    const { consent_token: token } = Kept.parse(await visitor.cookie());
    const path = `/api/v1/public/consents/verify?token=${token}`;
    const recorded = { valid: true, data: { decision: 'partial', services: { youtube: true, vimeo: false } } };
    await expect.poll(async () => (await ask(app.url + path)).body).toMatchObject(recorded);
    // The settings show it again, on another page too.
    await visit(film('vimeo'));
    await visitor.page.evaluate(`consentLedger.banner.then((one) => one.openSettings())`);
    expect(await switches()).toEqual(['analytics off', 'marketing some', 'youtube on', 'vimeo off']);
    await visitor.click('reject');
    expect(await next()).toMatchObject({ decision: 'withdrawn', services: { youtube: false, vimeo: false } });
  });

  test('a placeholder permits its service alone, and the last one permits the category', async () => {
    await visit();
    const button = (index: number) =>
      `document.querySelectorAll('consent-placeholder')[${index}].shadowRoot.querySelector('[part=allow-all]')`;
    expect(await visitor.page.evaluate(`${button(0)}.textContent`)).toBe('Allow YouTube…');
    await visitor.page.evaluate(`${button(0)}.click()`);
    await expect.poll(switches).toEqual(['analytics off', 'marketing some', 'youtube on', 'vimeo off']);
    await visitor.click('save');
    expect(await next()).toMatchObject({ decision: 'partial', services: { youtube: true, vimeo: false } });
    await expect.poll(sources).toEqual([`${frame}/youtube`, '']);
    await expect.poll(() => visitor.page.evaluate(`${button(0)}.textContent`)).toBe('Allow Vimeo');
    await visitor.page.evaluate(`${button(0)}.click()`);
    await expect.poll(sources).toEqual([`${frame}/youtube`, `${frame}/vimeo`]);
    expect(await next()).toMatchObject({
      decision: 'partial',
      categories: { marketing: true },
      services: { youtube: true, vimeo: true },
    });
    await visitor.page.evaluate(`consentLedger.consent.choose({ marketing: true }, undefined, { vimeo: false })`);
    await expect.poll(sources).toEqual([`${frame}/youtube`, '']);
  });

  describe('a link to the draft', () => {
    const ledger = async (): Promise<unknown> =>
      (await app.superuser.query(`select count(*) from event_log.events where type = '${CONSENT_RECORDED}'`)).rows;
    const device = () =>
      visitor.page.evaluate(
        `JSON.stringify([document.cookie, Object.keys(localStorage), Object.keys(sessionStorage)])`,
      );
    const inDraft = (expression: string): Promise<unknown> =>
      visitor.page.evaluate(
        `((shown) => ${expression})(document.querySelector('consent-draft')?.shadowRoot.querySelector('iframe')?.contentWindow)`,
      );
    const strip = () =>
      visitor.page.evaluate(`document.querySelector('consent-draft')?.shadowRoot.querySelector('p').innerText ?? ''`);
    const tokenOf = async (siteId: string, made = Date.now()): Promise<string> =>
      newDraftToken(await app.service.installation.keyring.siteKey(siteId), made).token;
    const follow = async (token: string): Promise<void> => {
      shop.show({ body: film('youtube') + script, attributes: 'data-google-consent-mode' });
      await visitor.page.goto('about:blank');
      await visitor.page.goto(`${shop.origin}/#consent-draft=${token}`);
    };
    beforeAll(async () => {
      await changeConfigDraft(app.service.installation.adminPool, demo.site.id, undefined, (draft) => ({
        draft: { ...draft, banner: { ...draft.banner, en: { ...draft.banner.en, title: 'A heading of the draft' } } },
        result: null,
      }));
    });

    test('shows the draft, records nothing and permits nothing, whatever is pressed', async () => {
      const before = await ledger();
      await follow(await tokenOf(demo.site.id));
      const heading = `shown?.document.querySelector('consent-banner')?.shadowRoot.querySelector('h2')?.textContent`;
      await expect.poll(() => inDraft(heading)).toBe('A heading of the draft');
      expect(await strip()).toContain('nothing is recorded, and nothing optional is permitted');
      expect(await visitor.page.evaluate('location.href')).toBe(`${shop.origin}/`);
      await expect.poll(() => visitor.page.evaluate(`document.querySelector('consent-banner')`)).toBeNull();
      const found = await violationsOf(visitor.page, 'draft', (scheme) => picture(`draft-${scheme}`));
      expect(found).toEqual([]);
      await inDraft(`shown.document.querySelector('consent-banner').shadowRoot.querySelector('[part=accept]').click()`);
      await expect.poll(() => inDraft('shown.consentLedger.consent.state.status')).toBe('chosen');
      await inDraft(`shown.consentLedger.consent.optOutOfSale().then(() => true)`);
      expect(await visitor.status()).toBe('loading');
      expect(await visitor.page.evaluate('window.ran ?? []')).toEqual([]);
      expect(await sources()).toEqual(['']);
      expect(await device()).toBe(JSON.stringify(['', [], []]));
      // Google's tags hear a refusal, as before an answer.
      expect(await visitor.page.evaluate(`dataLayer.map((one) => [one[0], one[1], one[2].analytics_storage])`)).toEqual(
        [['consent', 'default', 'denied']],
      );
      // A page that has its own switch of languages and its own buttons starts nothing by them.
      const own = ['setLanguage("en")', 'start()', 'acceptAll()', 'rejectAll()', 'optOutOfSale()'];
      for (const act of own) {
        const failure = `(async () => consentLedger.consent.${act})().then(() => '', (error) => String(error))`;
        expect(await visitor.page.evaluate(failure)).not.toBe('');
      }
      expect(await ledger()).toEqual(before);
      // The normal banner returns with the page.
      await visitor.page.evaluate(`document.querySelector('consent-draft').shadowRoot.querySelector('button').click()`);
      await visitor.page.until(async () => (await visitor.status()) === 'needed');
      await expect
        .poll(() => visitor.inBanner(`banner?.querySelector('h2')?.textContent`))
        .not.toBe('A heading of the draft');
      expect(await visitor.page.evaluate(`document.querySelector('consent-draft')`)).toBeNull();
    });

    test('says that it has expired, or belongs to another site, and then shows no banner', async () => {
      await follow(await tokenOf(demo.site.id, Date.now() - DRAFT_LINK_SECONDS * 1000));
      await expect.poll(strip).toContain('the link has expired; make a new one in the dashboard');
      expect(await visitor.sees('section')).toBe(false);
      const other = await app.seed();
      await follow(await tokenOf(other.site.id));
      await expect.poll(strip).toContain('is not a link to a draft of this site');
      expect(await sources()).toEqual(['']);
    });
  });

  describe('the panel of a developer', () => {
    /** Loads the panel as a developer does, by a script that the page permits. */
    const loader = 'window.loads = (url) => import(url);';
    const inspect = async (options: Parameters<Visitor['visit']>[0] = {}, origin?: string): Promise<void> => {
      await visitor.visit({ before: [RECORDER, loader], ...options }, origin);
      await visitor.page.evaluate(`loads('${app.url}/sdk/inspect.js').then(() => true)`);
    };
    const inPanel = (expression: string): Promise<unknown> =>
      visitor.page.evaluate(
        `((panel) => ${expression})(document.querySelector('consent-inspector')?.shadowRoot ?? null)`,
      );
    const text = async (): Promise<string> =>
      z.string().parse(await inPanel(`panel.querySelector('section').innerText.replace(/\\s+/g, ' ')`));
    /** An expression about the window of the trial. */
    const inTrial = (expression: string): Promise<unknown> =>
      inPanel(`((tried) => ${expression})(panel.querySelector('.trial iframe').contentWindow)`);
    const gated = {
      media: film('youtube'),
      unknownService: film('youtub'),
      unknownCategory: `<iframe data-consent="marketng" data-consent-src="${frame}" title="A map"></iframe>`,
      eager: `<img data-consent="marketing" src="/poster.svg" alt="A poster" title="A poster">`,
      running: `<script nonce="c2hvcA" data-consent="marketing" src="/early.js"></script>`,
    };

    test('says of each element what it waits for and why, and what was sent and answered', async () => {
      await inspect({ body: Object.values(gated).join('') });
      await expect
        .poll(text)
        .toContain('Waits <iframe> Our garden in June service youtube: The visitor has not answered yet');
      const before = await text();
      for (const words of [
        'Wrong <iframe> Our garden in June service youtub: The site has no service youtub. It has: youtube, vimeo.',
        'Wrong <iframe> A map category marketng: The site has no category marketng. It has: necessary, analytics, marketing.',
        'Wrong <img> A poster category marketing: It loads without asking: its address must be in data-consent-src',
        'Wrong <script> /early.js category marketing: It runs without asking: its type must be text/plain',
        'Waits <script> /analytics.js category analytics: The visitor has not answered yet',
        'earlier: /tool/v1/config → 200',
        'read from the service',
      ])
        expect(before).toContain(words);
      expect(
        await visitor.page.evaluate(
          `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/sdk/inspect.js')).length`,
        ),
      ).toBe(1);
      await visitor.page.evaluate(
        `consentLedger.consent.choose({ analytics: true }, undefined, { youtube: true, vimeo: false })`,
      );
      await expect.poll(text).toContain('Open <iframe> Our garden in June service youtube: Permitted and loaded.');
      await expect
        .poll(text)
        .toMatch(/POST \/tool\/v1\/consents cookie partial \{"necessary":true.* → 202, recorded as ct_\w{9}…/);
      await expect.poll(async () => (await visitor.cookie())?.consent_token).toBeDefined();
      const after = await text();
      expect(after).not.toContain((await visitor.cookie())?.consent_token);
      expect(after).not.toContain(demo.keys.write);
      // The page goes on without the panel.
      await inPanel(`panel.querySelector('button').click()`);
      expect(await visitor.page.evaluate(`document.querySelector('consent-inspector')`)).toBeNull();
    });

    test('names a key that the service refuses, and a test key on a host of visitors', async () => {
      shop.use(app.url, `${demo.keys.write.slice(0, -4)}XXXX`);
      await inspect({ body: gated.media });
      await expect.poll(text).toContain('Wrong <iframe> Our garden in June service youtube: Nothing can be recorded');
      expect(await text()).toContain('INVALID_API_KEY');
      const { key } = await createApiKey(app.service.installation.adminPool, demo.site.id, 'write', { mode: 'test' });
      shop.use(app.url, key);
      try {
        await inspect({ body: gated.media }, live);
        await expect.poll(text).toContain('The page has a test key on a host that visitors may use');
        expect(await text()).toContain('a test key: what it records is no evidence');
      } finally {
        shop.use(app.url, demo.keys.write);
      }
    });

    test('tries another country, language and signal without recording anything', async () => {
      const kept = async (): Promise<unknown> => {
        // The sealer writes to the log meanwhile.
        const consents = `event_log.events where type = '${CONSENT_RECORDED}'`;
        const counts = [consents, 'idempotency', 'nonces', 'record_keys', 'persons'].map(
          (rows, at) => `(select count(*) from ${rows}) as count_${at}`,
        );
        return (await app.superuser.query(`select ${counts.join(', ')}`)).rows;
      };
      await inspect({ body: gated.media });
      await expect.poll(text).toContain('Nothing is recorded');
      const before = await kept();
      const storage = `JSON.stringify([document.cookie, Object.entries(localStorage).toSorted()])`;
      const device = await visitor.page.evaluate(storage);
      await inPanel(
        `{ const [country, language] = panel.querySelectorAll('select'); country.value = [...country.options].find(({ text }) => text.startsWith('California')).value; language.value = 'tr'; panel.querySelector('[type=checkbox]').click(); panel.querySelector('form button').click(); }`,
      );
      await expect.poll(() => inTrial(`tried.consentLedger?.consent.state.status ?? 'loading'`)).toBe('signalled');
      expect(
        await inTrial(
          `[tried.consentLedger.consent.state.configuration.region.compliance_framework, tried.consentLedger.consent.state.configuration.language]`,
        ),
      ).toEqual(['ccpa', 'tr']);
      await expect.poll(text).toContain('Not sent: POST /tool/v1/consents do_not_sell_opt_out accepted');
      // The same without the signal, with an answer by the buttons of the banner.
      await inPanel(`{ panel.querySelector('[type=checkbox]').click(); panel.querySelector('form button').click(); }`);
      const button = `tried.document.querySelector('consent-banner')?.shadowRoot.querySelector('[part=accept]')`;
      await expect.poll(() => inTrial(`${button} != null`)).toBe(true);
      await inTrial(`${button}.click()`);
      await expect.poll(text).toContain('Not sent: POST /tool/v1/consents cookie accepted');
      await expect.poll(() => inTrial(`tried.consentLedger.consent.state.choice?.consent_token`)).toBe('ct_trial');
      await inTrial(`tried.consentLedger.banner.then((one) => one.openSettings())`);
      await inTrial(
        `tried.document.querySelector('consent-banner').shadowRoot.querySelector('dialog.settings a').click()`,
      );
      await expect.poll(text).toContain('Not followed: http');
      expect(await visitor.page.evaluate('sent')).toEqual([]);
      expect(await visitor.page.evaluate(storage)).toBe(device);
      expect(await visitor.status()).toBe('needed');
      expect(await visitor.page.evaluate(`consentLedger.consent.allows('marketing')`)).toBe(false);
      expect(await sources()).toEqual(['']);
      expect(await kept()).toEqual(before);
    });

    test.each([390, 1280])(
      'axe finds nothing in it at %i pixels, and the keyboard reaches everything',
      async (width) => {
        const metrics = { width, height: 844, deviceScaleFactor: 1, mobile: width < 600 };
        await visitor.page.send('Emulation.setDeviceMetricsOverride', metrics);
        await inspect({ body: Object.values(gated).join('') });
        await visitor.page.evaluate(`consentLedger.consent.rejectAll().then(() => true)`);
        await expect.poll(text).toContain('The visitor refused youtube.');
        expect(
          await inPanel(
            `panel.host.getBoundingClientRect().right <= innerWidth && panel.querySelector('.body').scrollWidth <= panel.querySelector('.body').clientWidth`,
          ),
        ).toBe(true);
        expect(await inPanel('panel.activeElement.textContent')).toBe('Close');
        const reached: unknown[] = [];
        for (let at = 0; at < 5; at += 1) {
          await visitor.page.press('Tab');
          reached.push(await inPanel(`panel.activeElement?.localName ?? 'page'`));
        }
        expect(reached).toEqual(['div', 'select', 'select', 'input', 'button']);
        await visitor.page.press('Enter');
        await expect.poll(() => inPanel(`panel.querySelector('.trial iframe') !== null`)).toBe(true);
        const found = await violationsOf(visitor.page, `inspector-${width}`, (scheme) =>
          picture(`inspector-${width}-${scheme}`),
        );
        expect(found).toEqual([]);
      },
    );
  });

  test('without switches the services stand by name, and their category decides', async () => {
    await publish(false);
    await visit(film('youtube'));
    const text = `document.querySelector('consent-placeholder').shadowRoot.querySelector('[part=allow-all]').textContent`;
    expect(await visitor.page.evaluate(text)).toBe('Allow all of Advertising: Demonstration Ads Ltd., YouTube, Vimeo…');
    await visitor.click('settings');
    expect(await switches()).toEqual(['analytics off', 'marketing off']);
    expect(await visitor.inBanner(`banner.querySelectorAll('.services li').length`)).toBe(2);
    await visitor.click('accept');
    await expect.poll(sources).toEqual([`${frame}/youtube`]);
    expect((await next()).services).toBeUndefined();
  });
});
