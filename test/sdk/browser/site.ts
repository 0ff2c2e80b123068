import * as z from 'zod';
import { ChromiumPage, WITH_BACK_FORWARD_CACHE } from '../../support/chromium.js';
import type { PageOptions, Shop } from './shop.js';

/** Hosts of one site. Browsers take `localhost` and what is below it for secure. */
export const HOSTS = ['www.shop.localhost', 'blog.shop.localhost'] as const;
export const DOMAIN = 'shop.localhost';

const State = z.looseObject({
  status: z.string(),
  allows: z.boolean(),
  said: z.array(z.string()).optional(),
});

/** A visitor of a site with several hosts and pages, in a browser of their own. */
export class SiteVisitor {
  private constructor(
    readonly page: ChromiumPage,
    private readonly shop: Shop,
  ) {}

  static async start(executable: string, shop: Shop): Promise<SiteVisitor> {
    return new SiteVisitor(
      await ChromiumPage.open(executable, ['--host-resolver-rules=MAP *.localhost 127.0.0.1', WITH_BACK_FORWARD_CACHE]),
      shop,
    );
  }

  origin(host: string): string {
    return `http://${host}:${this.shop.port}`;
  }

  /** Opens a page of the site and waits until the SDK knows whether to ask. */
  async visit(host: string, options: PageOptions = {}, path = '/'): Promise<void> {
    this.shop.show(options);
    await this.page.goto(this.origin(host) + path);
    await this.known();
  }

  async known(): Promise<void> {
    await this.page.until(
      async () => (await this.ask(`window.consentLedger?.consent.state.status ?? 'loading'`)) !== 'loading',
    );
  }

  ask(expression: string): Promise<unknown> {
    return this.page.evaluate(expression);
  }

  /** Makes a choice, and waits for the service's answer. */
  async choose(call: 'acceptAll()' | 'rejectAll()'): Promise<void> {
    await this.ask(`consentLedger.consent.${call}.then(() => true)`);
  }

  async state(): Promise<z.infer<typeof State>> {
    return State.parse(
      await this.ask(
        `({ status: consentLedger.consent.state.status, allows: consentLedger.consent.allows('marketing') })`,
      ),
    );
  }

  /** Values of the cookies of a name that the page sees. */
  async cookies(name: string): Promise<readonly string[]> {
    const text = z.string().parse(await this.ask('document.cookie'));
    return text
      .split('; ')
      .filter((one) => one.startsWith(`${name}=`))
      .map((one) => one.slice(name.length + 1));
  }

  /** The reference under which the page records. */
  async id(): Promise<string> {
    return z.string().parse((await this.cookies('_svc_visitor'))[0]?.split('/')[1]);
  }

  /** Forgets everything, as a visitor who comes for the first time. */
  async forget(): Promise<void> {
    await this.page.goto('about:blank');
    await this.page.send('Network.clearBrowserCookies');
    for (const host of HOSTS)
      await this.page.send('Storage.clearDataForOrigin', { origin: this.origin(host), storageTypes: 'all' });
  }

  /** Runs a script in every page before its own. @returns a function that ends this */
  async before(source: string): Promise<() => Promise<unknown>> {
    const { identifier } = await this.page.send('Page.addScriptToEvaluateOnNewDocument', { source });
    return () => this.page.send('Page.removeScriptToEvaluateOnNewDocument', { identifier });
  }
}
