import * as z from 'zod';
import type { ChromiumPage } from '../../support/chromium.js';

const Paused = z.looseObject({
  requestId: z.string(),
  resourceType: z.string(),
  request: z.looseObject({ url: z.string() }),
});

/**
 * What the scripts of advertisers do that a page can notice: they read the commands that the page left for them, and
 * send. Each stands in place of the script at an address.
 */
const SCRIPTS: Readonly<Record<string, string>> = {
  // Google's tag keeps what the data layer held when it came, and sends a page view if it may store.
  'https://www.googletagmanager.com/gtag/js': `
    window.heldByLayer = dataLayer.map((entry) => JSON.parse(JSON.stringify(Array.from(entry.length === undefined ? [entry] : entry))));
    const state = {};
    for (const [command, , types] of window.heldByLayer) if (command === 'consent') Object.assign(state, types);
    for (const [command, id] of window.heldByLayer)
      if (command === 'config' && state.analytics_storage === 'granted')
        navigator.sendBeacon('https://region1.google-analytics.com/g/collect?v=2&tid=' + id);`,
  'https://connect.facebook.net/en_US/fbevents.js': `
    for (const [command, name] of fbq.queue)
      if (command === 'track') new Image().src = 'https://www.facebook.com/tr/?ev=' + name;`,
  'https://matomo.example/matomo.js': `
    const commands = Object.fromEntries(_paq);
    if ('trackPageView' in commands) navigator.sendBeacon(commands.setTrackerUrl + '?idsite=' + commands.setSiteId);`,
};

/**
 * Every host of the internet, for one page of a browser: nothing leaves the machine, and what the page asks for is kept.
 * Pages and the service of a test are on `http:`, so that every `https:` address is a foreign one.
 */
export class ForeignHosts {
  /** What was asked for, in order: method-less addresses without their query. */
  readonly asked: string[] = [];

  private constructor(private readonly page: ChromiumPage) {}

  static async of(page: ChromiumPage): Promise<ForeignHosts> {
    const hosts = new ForeignHosts(page);
    page.on('Fetch.requestPaused', (event) => void hosts.#answer(Paused.parse(event)));
    await page.send('Fetch.enable', { patterns: [{ urlPattern: 'https://*' }] });
    return hosts;
  }

  async #answer({ requestId, resourceType, request }: z.infer<typeof Paused>): Promise<void> {
    const [address = ''] = request.url.split('?');
    this.asked.push(address);
    const isPage = resourceType === 'Document';
    const body = isPage ? '<!doctype html><title>Film</title>' : (SCRIPTS[address] ?? '');
    const responseHeaders = [{ name: 'content-type', value: isPage ? 'text/html' : 'text/javascript' }];
    await this.page
      .send('Fetch.fulfillRequest', {
        requestId,
        responseCode: 200,
        responseHeaders,
        body: Buffer.from(body).toString('base64'),
      })
      // The page that asked may be gone.
      .catch(() => undefined);
  }
}
