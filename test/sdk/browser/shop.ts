import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { renewedCookies } from '../../../sdk/node/src/renewed-cookies.js';

const BUILT = fileURLToPath(new URL('../../../sdk/browser/dist/', import.meta.url));
/** The nonce of every script that the pages permit. */
export const NONCE = 'c2hvcA';
/** A picture with the colours of many photographs. */
const POSTER =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 9"><rect width="16" height="9" fill="#8fb6d8"/><path d="M0 9l5-5 3 3 4-5 4 7z" fill="#2f6b3a"/></svg>';

export interface PageOptions {
  /** Language of the page. */
  readonly language?: string;
  /** Attributes of the script element, beside key and service. */
  readonly attributes?: string;
  /** Scripts before that of the SDK: their sources, or `iab-stub` for that of the service. */
  readonly before?: readonly string[];
  /** HTML of the body. */
  readonly body?: string;
  /** A module that the page runs in place of the script of the SDK; the SDK is at `/index.js`. */
  readonly module?: string;
  /** Whether the page loads the script from the service instead of the shop. */
  readonly isServedByService?: boolean;
  /** Content security policy of the page; if absent, that of the shop. */
  readonly policy?: string;
}

/**
 * A shop on an origin of its own, whose pages permit only scripts with a nonce, and no style and no
 * eval at all. It serves the built SDK, as a shop that hosts it would.
 */
export class Shop {
  /** Scripts and images that pages asked for, by path. */
  readonly requested: string[] = [];
  /** Domain of the cookies that `/renew` sets again. */
  cookieDomain: string | undefined;
  /** Awaited by `/renew` before it answers. */
  beforeRenewal: Promise<unknown> = Promise.resolve();
  /** The shop's own backend: a person token for whoever is signed in, at `POST /consent-token`. */
  personToken: (() => Promise<string>) | undefined;
  #page: PageOptions = {};
  #service = '';
  #apiKey = '';

  private constructor(private readonly server: Server) {}

  static async open(): Promise<Shop> {
    const server = createServer();
    const shop = new Shop(server);
    server.on('request', async (request, response) => {
      if (request.url === '/renew') {
        shop.requested.push('/renew');
        const { cookie, host } = request.headers;
        const cookies = renewedCookies({ cookie, host, cookieDomain: shop.cookieDomain, isSecure: false });
        await shop.beforeRenewal;
        response
          .writeHead(cookies.length > 0 ? 204 : 404, { 'set-cookie': [...cookies], 'cache-control': 'no-store' })
          .end();
        return;
      }
      if (request.url === '/consent-token' && request.method === 'POST' && shop.personToken !== undefined) {
        const token = await shop.personToken().catch(() => undefined);
        response.writeHead(token === undefined ? 401 : 200, { 'cache-control': 'no-store' }).end(token);
        return;
      }
      shop.#answer(request.url ?? '/').then(
        ({ type, body }) => {
          response.writeHead(200, { 'content-type': type, 'content-security-policy': shop.#policy() }).end(body);
        },
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    return shop;
  }

  get port(): number {
    const address: AddressInfo | string | null = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('the shop does not listen');
    return address.port;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Sets the service to which the SDK sends consents, and the API key. */
  use(service: string, apiKey: string): void {
    this.#service = service;
    this.#apiKey = apiKey;
  }

  /** Sets the content of the pages that are loaded from now on. @returns the URL of the page */
  show(page: PageOptions = {}): string {
    this.#page = page;
    return `${this.origin}/`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  #policy(): string {
    if (this.#page.policy !== undefined) return this.#page.policy;
    return `default-src 'none'; script-src 'nonce-${NONCE}'; img-src 'self'; connect-src 'self' ${this.#service}; frame-src http://*.localhost:*; base-uri 'none'`;
  }

  async #answer(path: string): Promise<{ type: string; body: string | Buffer }> {
    if (path === '/consent.js' || path === '/index.js')
      return { type: 'text/javascript', body: await readFile(BUILT + path.slice(1)) };
    if (path.endsWith('.js')) {
      this.requested.push(path);
      return { type: 'text/javascript', body: `window.ran = [...(window.ran ?? []), ${JSON.stringify(path)}];` };
    }
    if (path === '/poster.svg') return { type: 'image/svg+xml', body: POSTER };
    if (path.startsWith('/shop/')) return { type: 'text/html; charset=utf-8', body: this.#html() };
    if (path.startsWith('/frame'))
      return { type: 'text/html; charset=utf-8', body: this.#frame(path.endsWith('?choose')) };
    if (path !== '/' && path !== '/favicon.ico') this.requested.push(path);
    return {
      type: 'text/html; charset=utf-8',
      body: path === '/' ? this.#html() : '<!doctype html><title>Other</title>',
    };
  }

  /** A page for a frame, which tells the page around it what it knows, at last. */
  #frame(chooses: boolean): string {
    const choice = `consentLedger.consent.acceptAll(); document.dispatchEvent(new Event('visibilitychange'));`;
    return `${this.#html()}<script nonce="${NONCE}">
      const { consent } = consentLedger;
      consent.start().then(() => {
        ${chooses ? choice : ''}
        parent.postMessage({ status: consent.state.status, allows: consent.allows('marketing') }, '*');
      });
    </script>`;
  }

  #html(): string {
    const { language = 'en', attributes = '', before = [], body = '', module, isServedByService = false } = this.#page;
    const source = isServedByService
      ? `${this.#service}/sdk/consent.js"`
      : `/consent.js" data-base-url="${this.#service}"`;
    const sdk = `<script nonce="${NONCE}" src="${source} data-api-key="${this.#apiKey}" ${attributes}></script>`;
    const scripts = before.map((script) =>
      script === 'iab-stub'
        ? `<script nonce="${NONCE}" src="${this.#service}/sdk/iab-stub.js"></script>`
        : `<script nonce="${NONCE}">${script}</script>`,
    );
    return `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><title>Shop</title><meta name="viewport" content="width=device-width">
${scripts.join('\n')}
${module === undefined ? sdk : `<script nonce="${NONCE}" type="module">${module}</script>`}
<script nonce="${NONCE}" type="text/plain" data-consent="analytics" src="/analytics.js"></script>
<script nonce="${NONCE}" type="text/plain" data-consent="marketing">window.ran = [...(window.ran ?? []), 'inline marketing'];</script>
</head>
<body><main><h1>Shop</h1><p>Everything for the garden.</p><p><a href="/other">Another page</a></p>${body}</main></body>
</html>`;
  }
}
