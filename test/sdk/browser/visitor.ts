import * as z from 'zod';
import { ChromiumPage } from '../../support/chromium.js';
import type { PageOptions, Shop } from './shop.js';

const Kept = z.looseObject({
  decision: z.string(),
  state: z.string(),
  categories: z.string(),
  document_version_id: z.string(),
  language: z.string(),
  consent_token: z.string().optional(),
});
export type Kept = z.infer<typeof Kept>;

/** A visitor of the shop, with a browser of their own. */
export class Visitor {
  private constructor(
    readonly page: ChromiumPage,
    private readonly shop: Shop,
  ) {}

  static async start(executable: string, shop: Shop, flags: readonly string[] = []): Promise<Visitor> {
    const visitor = new Visitor(await ChromiumPage.open(executable, flags), shop);
    await visitor.page.send('Accessibility.enable');
    return visitor;
  }

  /** Opens a page of the shop and waits until the SDK knows whether to ask. */
  async visit(options: PageOptions = {}, origin = this.shop.origin): Promise<void> {
    this.shop.show(options);
    await this.page.goto(`${origin}/`);
    await this.page.until(async () => (await this.status()) !== 'loading');
    await this.page.evaluate('consentLedger.banner.then(() => true)');
  }

  /** Forgets everything, as a visitor who comes for the first time. */
  async forget(): Promise<void> {
    await this.online();
    await this.page.goto('about:blank');
    await this.page.send('Network.clearBrowserCookies');
    await this.page.send('Storage.clearDataForOrigin', { origin: this.shop.origin, storageTypes: 'all' });
  }

  status(): Promise<unknown> {
    return this.page.evaluate('window.consentLedger?.consent.state.status ?? "loading"');
  }

  /** Code of the last error of the SDK; null without one. */
  errorCode(): Promise<unknown> {
    return this.page.evaluate('consentLedger.consent.state.error?.code ?? null');
  }

  /** An expression about the shadow root `banner` of the banner. */
  inBanner(expression: string): Promise<unknown> {
    return this.page.evaluate(
      `((banner) => ${expression})(document.querySelector('consent-banner')?.shadowRoot ?? null)`,
    );
  }

  /** Whether the banner or the dialog is on the page. */
  sees(what: 'section' | 'dialog[open]' | '.open'): Promise<unknown> {
    return this.inBanner(`banner?.querySelector('${what}') != null`);
  }

  /** Presses a button of the banner, or of the dialog if it is open. */
  async click(part: string): Promise<void> {
    const found = `(banner.querySelector('dialog[open]') ?? banner).querySelector('[part=${part}]')`;
    await this.inBanner(`${found}.click()`);
  }

  /** Lets confirmations of this page be seen until the test ends them, the oldest first in `confirmations`. */
  async holdConfirmations(): Promise<void> {
    await this.page.evaluate(`{
      const [wait, stop] = [setTimeout, clearTimeout];
      let last = 0;
      window.confirmations = new Map();
      window.setTimeout = (end, ms) => ms === 5000 ? (confirmations.set(--last, end), last) : wait(end, ms);
      window.clearTimeout = (id) => confirmations.delete(id) || stop(id);
    }`);
  }

  /** Ticks or unticks categories of the open dialog, in order. */
  async tick(...values: readonly boolean[]): Promise<void> {
    await this.inBanner(
      `banner.querySelectorAll('dialog[open] input').forEach((input, i) => { if (input.checked !== ${JSON.stringify(values)}[i]) input.click(); })`,
    );
  }

  /** The choice in the cookie `_svc_consent`; null without one, and after its end. */
  async cookie(): Promise<Kept | null> {
    const text = z.string().parse(await this.page.evaluate('document.cookie'));
    const [, value] = /(?:^|; )_svc_consent=([^;]*)/.exec(text) ?? [];
    const kept = value === undefined ? null : Kept.parse(JSON.parse(decodeURIComponent(value)));
    return kept?.state.includes('v') ? null : kept;
  }

  /** Waits until the service has accepted the choice. @returns its consent token */
  async acceptedToken(): Promise<string> {
    await this.page.until(async () => (await this.cookie())?.consent_token !== undefined);
    return z.string().parse((await this.cookie())?.consent_token);
  }

  /** The reference that the SDK made for this visitor. */
  async id(): Promise<string> {
    return z.string().parse(await this.page.evaluate(`JSON.parse(localStorage['_svc_consent:visitor'])`));
  }

  /** Scripts of the page that ran. */
  ran(): Promise<unknown> {
    return this.page.evaluate('(window.ran ?? []).toSorted()');
  }

  /** Number of consents that wait in the browser. */
  queued(): Promise<unknown> {
    return this.page.evaluate(
      `Object.keys(localStorage).filter((name) => name.startsWith('_svc_consent:queue:')).length`,
    );
  }

  offline(): Promise<unknown> {
    return this.#network(true);
  }

  online(): Promise<unknown> {
    return this.#network(false);
  }

  #network(offline: boolean): Promise<unknown> {
    const conditions = { offline, latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
    return this.page.send('Network.emulateNetworkConditions', conditions);
  }
}
