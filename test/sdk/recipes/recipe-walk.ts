import { expect } from 'vitest';
import * as z from 'zod';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { publishSiteConfig } from '../../../src/tenancy/configuration/publish-site-config.js';
import { get, type RunningApp, startApp } from '../../api/server/running-app.js';
import { ChromiumPage, chromiumPath } from '../../support/chromium.js';
import { freePort } from '../../support/free-port.js';
import { until } from '../../support/wait.js';
import { ForeignHosts } from './foreign-hosts.js';
import { checkLoads, type Load, PageLoad } from './page-load.js';
import { RECIPE_CONFIG, type Recipe } from './recipes.js';

const Sent = z.array(z.looseObject({ request: z.looseObject({ url: z.string() }) }));
const Said = z.array(z.looseObject({ type: z.string() }));
const Config = z.object({ data: z.object({ categories: z.array(z.object({ key: z.string() })) }) });
/** What the data layer holds, each entry as a list. */
const Layer = z.array(z.array(z.unknown()));
const IN_LAYER = `(window.dataLayer ?? []).map((one) => JSON.parse(JSON.stringify(Array.from(one.length === undefined ? [one] : one))))`;
const DENIED = { ad_storage: 'denied', analytics_storage: 'denied' };
const GRANTED = { ad_storage: 'granted', analytics_storage: 'granted' };
/** For how long a page that asks for nothing more is settled, in milliseconds. */
const QUIET_MS = 300;

/** A visitor with one browser, who walks through recipes one after the other, on one site of a real service. */
export class RecipeWalk {
  readonly #origin: string;

  private constructor(
    private readonly app: RunningApp,
    private readonly demo: SeededDemo,
    private readonly port: number,
    private readonly page: ChromiumPage,
    private readonly foreign: ForeignHosts,
    private readonly load: PageLoad,
  ) {
    this.#origin = `http://127.0.0.1:${port}`;
  }

  static async start(): Promise<RecipeWalk> {
    const port = await freePort();
    const app = await startApp('serve');
    const demo = await app.seed({ allowedOrigins: [`http://127.0.0.1:${port}`] });
    await publishSiteConfig(app.service.installation.adminPool, demo.site.id, RECIPE_CONFIG);
    const read = async () => Config.parse((await get(app, '/tool/v1/config', demo.keys.read)).body).data.categories;
    await until(async () => (await read()).some(({ key }) => key === 'media'));
    const flags = ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'];
    const page = await ChromiumPage.open(chromiumPath ?? '', flags);
    return new RecipeWalk(app, demo, port, page, await ForeignHosts.of(page), new PageLoad(page));
  }

  async stop(): Promise<void> {
    await this.page.close();
    await this.app.stop();
  }

  /** Visits, accepts, comes back twice, withdraws, and comes back once more. */
  async walk({ title, serve, tags, pressed, hasPlaceholder, hasConsentMode, hasControls }: Recipe): Promise<void> {
    await this.#forget();
    const served = await serve({ service: this.app.url, apiKey: this.demo.keys.write, port: this.port });
    try {
      const said = this.page.events('Runtime.consoleAPICalled').length;
      const first = await this.#open(pressed);
      await expect.poll(() => this.#isAsking()).toBe(true);
      if (hasPlaceholder) await expect.poll(() => this.#hasPlaceholder()).toBe(true);
      await this.#askedForNothing(first, tags);
      expect(await this.#ask('document.cookie')).toBe('');
      if (hasConsentMode) await this.#statesRefusal();
      const untilAsked = await this.load.untilNow();

      await this.#inBanner(`banner.querySelector('section [part=accept]').click()`);
      await this.#press(pressed);
      for (const tag of tags) await expect.poll(first).toContain(tag);
      await this.#recorded('accepted');
      if (hasConsentMode) await this.#toldTag();

      const fromCache = await this.#comeBack(tags, pressed);
      await this.#settled();
      await this.page.send('Network.clearBrowserCache');
      const withoutCache = await this.#comeBack(tags, pressed);

      await this.#settled();
      this.foreign.asked.splice(0);
      await this.#withdraw();
      await this.#settled();
      expect(this.foreign.asked).toEqual([]);
      const last = await this.#open(pressed);
      await this.#askedForNothing(last, tags);
      expect(await this.#isAsking()).toBe(false);

      // The page says nothing on the console, for example about hydration.
      const lines = Said.parse(this.page.events('Runtime.consoleAPICalled')).slice(said);
      expect(lines.filter(({ type }) => type === 'error' || type === 'warning')).toEqual([]);
      if (hasControls) await this.#useControls();
      else checkLoads(title, [untilAsked, withoutCache, fromCache]);
    } finally {
      await served.close();
    }
  }

  /** As a visitor who comes for the first time. */
  async #forget(): Promise<void> {
    await this.page.goto('about:blank');
    await this.page.send('Network.clearBrowserCookies');
    await this.page.send('Network.clearBrowserCache');
    await this.page.send('Storage.clearDataForOrigin', { origin: this.#origin, storageTypes: 'all' });
    this.foreign.asked.splice(0);
  }

  #ask(expression: string): Promise<unknown> {
    return this.page.evaluate(expression);
  }

  #inBanner(expression: string): Promise<unknown> {
    return this.#ask(`((banner) => ${expression})(document.querySelector('consent-banner')?.shadowRoot ?? null)`);
  }

  #isAsking(): Promise<unknown> {
    return this.#inBanner(`banner?.querySelector('section [part=accept]') != null`);
  }

  #hasPlaceholder(): Promise<unknown> {
    return this.#ask(`document.querySelector('consent-placeholder')?.shadowRoot?.querySelector('button') != null`);
  }

  /** An address without its query, and without the origin of the page. */
  #shortened(url: string): string {
    return url.split('?')[0]?.replace(this.#origin, '') ?? '';
  }

  async #press(selector: string | undefined): Promise<void> {
    if (selector !== undefined) await this.#ask(`document.querySelector('${selector}').click()`);
  }

  /** Opens the page, and presses what shows the tags. @returns what the page has asked for since, when it is called */
  async #open(pressed: string | undefined): Promise<() => readonly string[]> {
    const from = this.page.events('Network.requestWillBeSent').length;
    this.load.begin();
    await this.page.goto(`${this.#origin}/`);
    await this.#press(pressed);
    return () =>
      Sent.parse(this.page.events('Network.requestWillBeSent').slice(from))
        .filter(({ request }) => !/^(?:data|about|blob):/.test(request.url))
        .map(({ request }) => this.#shortened(request.url));
  }

  /** A visitor who accepted comes back: the tags go out, and nobody is asked. @returns what the first tag waited for */
  async #comeBack(tags: readonly string[], pressed: string | undefined): Promise<Load> {
    await this.#settled();
    const asked = await this.#open(pressed);
    for (const tag of tags) await expect.poll(asked).toContain(tag);
    expect(await this.#isAsking()).toBe(false);
    return this.load.until((url) => tags.includes(this.#shortened(url)));
  }

  /** Waits until the page asks for nothing more. */
  async #settled(): Promise<void> {
    let known = -1;
    await this.page.until(async () => {
      const now = this.page.events('Network.requestWillBeSent').length + this.foreign.asked.length;
      const isSettled = now === known;
      known = now;
      if (!isSettled) await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
      return isSettled;
    });
  }

  /** The page asked for its own files and those of the service, and for no tag. */
  async #askedForNothing(asked: () => readonly string[], tags: readonly string[]): Promise<void> {
    await this.#settled();
    const isOwn = (url: string): boolean => url.startsWith('/') || url.startsWith(this.app.url);
    expect(asked().filter((url) => !isOwn(url) || tags.includes(url))).toEqual([]);
    expect(this.foreign.asked).toEqual([]);
  }

  /** Waits until the service has accepted a decision, and the page says it, where it says any. */
  async #recorded(decision: string): Promise<void> {
    const isKept = `['"${decision}"', 'consent_token'].every((text) => decodeURIComponent(document.cookie).includes(text))`;
    await expect.poll(() => this.#ask(isKept)).toBe(true);
    const said = `document.querySelector('output')?.textContent ?? '${decision}'`;
    await expect.poll(() => this.#ask(said)).toBe(decision);
  }

  /** The controls of the events' recipe: one permits a category and keeps the other answers, one opens the settings. */
  async #useControls(): Promise<void> {
    await this.#press('#films');
    await this.#recorded('partial');
    expect(await this.#ask('consentLedger.consent.state.choice.categories')).toMatchObject({
      analytics: false,
      media: true,
    });
    await this.#press('#settings');
    await expect.poll(() => this.#inBanner(`banner?.querySelector('dialog[open]') != null`)).toBe(true);
  }

  /** The visitor takes the permission back where every page of the site offers it. */
  async #withdraw(): Promise<void> {
    await this.#ask(`document.querySelector('[data-consent-settings]').click()`);
    await expect.poll(() => this.#inBanner(`banner?.querySelector('dialog[open] [part=reject]') != null`)).toBe(true);
    await this.#inBanner(`banner.querySelector('dialog[open] [part=reject]').click()`);
    await this.#recorded('withdrawn');
    expect(await this.#ask(`document.querySelector('iframe[src]')`)).toBeNull();
  }

  /** Before the choice the data layer holds nothing but defaults, which deny everything: the page's and the SDK's. */
  async #statesRefusal(): Promise<void> {
    const held = Layer.parse(await this.#ask(IN_LAYER));
    expect(held).toHaveLength(2);
    for (const entry of held) expect(entry).toEqual(['consent', 'default', expect.objectContaining(DENIED)]);
  }

  /** When Google's tag came, it found the defaults first, and the visitor's answer before it was told to send. */
  async #toldTag(): Promise<void> {
    const held = Layer.parse(await this.#ask('heldByLayer'));
    expect(held.slice(0, 3)).toEqual([
      ['consent', 'default', expect.objectContaining(DENIED)],
      ['consent', 'default', expect.objectContaining(DENIED)],
      ['consent', 'update', expect.objectContaining(GRANTED)],
    ]);
    expect(held.slice(3).map(([command]) => command)).toEqual([{ event: 'consent-ledger-choice' }, 'js', 'config']);
  }
}
