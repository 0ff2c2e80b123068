import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { violationsOf } from '../../support/axe.js';
import { chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { Shop } from './shop.js';
import { Visitor } from './visitor.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../sdk/browser/dist/placeholder.js', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;
/** Folder for pictures, to look at. */
const { BANNER_PICTURES: PICTURES } = process.env;
const SERVICES = [
  { key: 'youtube', name: 'YouTube', recipient: 'Google Ireland', policy_url: 'https://policies.example/youtube' },
  { key: 'vimeo', name: 'Vimeo', recipient: 'Vimeo.com, Inc.', policy_url: null },
];

/**
 * Gives the category `marketing` of every configuration services, and accepts each consent in place of the service. The
 * bodies are in `window.sent`.
 */
const withServices = (hasSwitches: boolean): string => `{
  const read = window.fetch;
  window.sent = [];
  window.fetch = async (url, init) => {
    const path = new URL(url).pathname;
    if (init?.method === 'POST' && path.endsWith('/consents')) {
      sent.push(JSON.parse(init.body));
      const data = { consent_token: 'ct_' + String(sent.length).padStart(32, '0'), proof_hash: 'f'.repeat(64), created_at: new Date().toISOString(), duplicate: false, promise: null };
      return new Response(JSON.stringify({ data }), { status: 202 });
    }
    const answer = await read(url, init);
    if (!path.endsWith('/config')) return answer;
    const body = await answer.json();
    body.data.service_switches = ${hasSwitches};
    for (const one of body.data.categories) one.services = one.key === 'marketing' ? ${JSON.stringify(SERVICES)} : [];
    return new Response(JSON.stringify(body), { status: answer.status });
  };
}`;

describe.skipIf(!canRun)(titleNeeding('Chromium, or the built SDK,', canRun, 'services of a category'), () => {
  let app: RunningApp;
  let shop: Shop;
  let visitor: Visitor;
  let frame: string;
  beforeAll(async () => {
    shop = await Shop.open();
    app = await startApp('serve');
    const demo = await app.seed({ allowedOrigins: [shop.origin] });
    shop.use(app.url, demo.keys.write);
    frame = `http://media.localhost:${shop.port}/film`;
    visitor = await Visitor.start(chromiumPath ?? '', shop, ['--host-resolver-rules=MAP *.localhost 127.0.0.1']);
  });
  afterAll(async () => {
    await visitor?.page.close();
    await app?.stop();
    await shop?.close();
  });
  beforeEach(() => visitor.forget());
  afterEach(() => visitor.page.send('Emulation.clearDeviceMetricsOverride'));

  const film = (service: string) =>
    `<iframe data-consent="marketing" data-consent-service="${service}" data-consent-src="${frame}/${service}" data-consent-placeholder title="Our garden in June" width="560" height="315"></iframe>`;
  const script = `<script nonce="c2hvcA" type="text/plain" data-consent-service="youtube" src="/youtube.js"></script>`;
  const visit = async (body = film('youtube') + film('vimeo') + script, hasSwitches = true): Promise<void> => {
    await visitor.visit({ body, before: [withServices(hasSwitches)] });
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
    await expect.poll(() => visitor.page.evaluate('sent.length')).toBeGreaterThan(0);
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

  test('without switches the services stand by name, and their category decides', async () => {
    await visit(film('youtube'), false);
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
