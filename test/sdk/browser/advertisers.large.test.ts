import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ChromiumPage, chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { inventedVendorList } from '../iab/vendor-list.js';

const BUILT = fileURLToPath(new URL('../../../sdk/browser/dist/', import.meta.url));
const canRun = chromiumPath !== undefined && existsSync(`${BUILT}iab.js`);
const SETTINGS = {
  tcf: {
    cmp_id: 300,
    cmp_version: 2,
    publisher_country: 'DE',
    vendor_list: { version: 120, sha256: '0' },
    vendors: [2, 10],
    purposes: { marketing: [1, 3] },
    special_features: {},
  },
};
/** The consent of a page, which the test changes by \`tell\`. */
const CONSENT = `
  window.listeners = [];
  window.consent = {
    state: { status: 'needed', choice: null, configuration: { language: 'de', region: { compliance_framework: 'gdpr' } } },
    isGpcOn: false, areSettingsOpen: false, isOptedOutOfSale: false, asked: [],
    subscribe: (listener) => { listeners.push(listener); listener(); },
  };
  window.choose = (categories) => {
    consent.state = { ...consent.state, status: 'chosen', choice: { categories, language: 'de', at: Date.now() + listeners.push(() => {}) } };
    for (const listener of listeners) listener();
    return true;
  };
  window.start = () => import('/iab.js').then(({ speakIab }) => speakIab(consent, ${JSON.stringify(SETTINGS)}, location.origin)).then(() => true);
  window.heard = {};
  addEventListener('message', ({ data }) => data.frame && (heard[data.frame] ??= []).push(data.told));
`;
/** A frame of an advertiser on another origin, which asks the page around it by messages, as IAB documents. */
const FRAME = `<!doctype html><script>
  const [, api, name] = location.pathname.split('/');
  addEventListener('message', ({ data }) => {
    const { returnValue, success } = (typeof data === 'string' ? JSON.parse(data) : data)[api + 'Return'];
    parent.postMessage({ frame: name, told: [success, returnValue.eventStatus ?? returnValue.eventName, returnValue.tcString === ''] }, '*');
  });
  const call = { [api + 'Call']: { command: 'addEventListener', version: api === '__gpp' ? '1.1' : 2, callId: 7 } };
  parent.postMessage(name.startsWith('text') ? JSON.stringify(call) : call, '*');
</script>`;

describe.skipIf(!canRun)(
  titleNeeding('Chromium, or the built SDK,', canRun, 'scripts of advertisers in Chromium'),
  () => {
    let server: Server;
    let page: ChromiumPage;
    let port: number;
    let head = '';
    let body = '';
    beforeAll(async () => {
      server = createServer(async ({ url = '' }, response) => {
        if (url === '/page')
          response
            .setHeader('content-type', 'text/html; charset=utf-8')
            .end(
              `<!doctype html><html><head><title>Page</title>${head}<script>${CONSENT}</script></head><body>${body}</body></html>`,
            );
        else if (url.startsWith('/__')) response.setHeader('content-type', 'text/html; charset=utf-8').end(FRAME);
        else if (url.startsWith('/sdk/vendor-lists/'))
          response.setHeader('content-type', 'application/json').end(JSON.stringify(inventedVendorList(120, [2, 10])));
        else if (url.endsWith('.js'))
          response.setHeader('content-type', 'text/javascript').end(await readFile(BUILT + url.slice(1)));
        else response.writeHead(404).end();
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      ({ port } = server.address() as AddressInfo);
      page = await ChromiumPage.open(chromiumPath ?? '', ['--host-resolver-rules=MAP *.localhost 127.0.0.1']);
    });
    afterAll(async () => {
      await page?.close();
      server?.closeAllConnections();
      server?.close();
    });
    const STUB = '<script src="/iab-stub.js"></script>';
    const frame = (api: string, name: string): string =>
      `<iframe src="http://ads.localhost:${port}/${api}/${name}"></iframe>`;
    const visit = async (inHead: string, inBody: string): Promise<void> => {
      head = inHead;
      body = inBody;
      await page.goto(`http://127.0.0.1:${port}/page`);
    };
    const heard = (name: string) => page.evaluate(`heard[${JSON.stringify(name)}] ?? null`);

    test('in frames of other origins hear every event, whether they ask early or late', async () => {
      await visit(STUB, frame('__tcfapi', 'early') + frame('__tcfapi', 'text-early') + frame('__gpp', 'gpp'));
      // Both were asked before the SDK is there.
      await page.until(async () => (await heard('gpp')) !== null);
      expect(await heard('early')).toBeNull();
      await page.evaluate('start()');
      const asked = [true, 'cmpuishown', false];
      await expect.poll(() => heard('early')).toEqual([asked]);
      await page.evaluate(
        `document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(frame('__tcfapi', 'late'))}), true`,
      );
      await expect.poll(() => heard('late')).toEqual([asked]);
      await page.evaluate('choose({ marketing: true }), choose({})');
      const decided = [true, 'useractioncomplete', false];
      for (const name of ['early', 'text-early', 'late'])
        await expect.poll(() => heard(name)).toEqual([asked, decided, decided]);
    });

    test('find the page by locators that are there with the body, and come back with the next one', async () => {
      const found = `[frames.__tcfapiLocator, frames.__gppLocator].map((one) => one !== undefined)`;
      await visit(STUB, `<p>Text</p><script>window.early = ${found};</script>`);
      expect(await page.evaluate('early')).toEqual([true, true]);
      // Hydration looks at what comes before them.
      expect(await page.evaluate(`document.body.firstChild.nodeName`)).toBe('P');
      for (const change of [
        `document.body.innerHTML = '<p>Next page</p>'`,
        `document.documentElement.replaceChild(document.createElement('body'), document.body)`,
        `document.replaceChild(document.implementation.createHTMLDocument('').documentElement, document.documentElement)`,
      ]) {
        await page.evaluate(`${change}, true`);
        await expect.poll(() => page.evaluate(found)).toEqual([true, true]);
      }
    });

    test('keep their listeners where the page includes the stub twice', async () => {
      await visit(
        `${STUB}<script>window.events = []; __tcfapi('addEventListener', 2, ({ eventStatus }) => events.push(eventStatus)); __gpp('addEventListener', ({ eventName }) => events.push(eventName));</script>${STUB}`,
        '',
      );
      expect(await page.evaluate('events')).toEqual(['listenerRegistered']);
      await page.evaluate('start()');
      expect(await page.evaluate('events')).toEqual(['listenerRegistered', 'cmpuishown']);
    });

    // CMP API of GPP: generic commands “must always be executed immediately”; the example of a stub answers null.
    test('get an answer of the stub to every generic command at once', async () => {
      await visit(STUB, '');
      const asked = `((...call) => { let said; const [command, ...rest] = call; __gpp(command, (data, success) => { said = [data, success]; }, ...rest); return said ?? null; })`;
      const ping = {
        gppVersion: '1.1',
        cmpStatus: 'stub',
        cmpDisplayStatus: 'hidden',
        signalStatus: 'not ready',
        supportedAPIs: [],
        cmpId: 0,
        sectionList: [],
        applicableSections: [],
        gppString: '',
        parsedSections: {},
      };
      expect(await page.evaluate(`${asked}('ping')`)).toEqual([ping, true]);
      for (const command of ['hasSection', 'getSection', 'getField'])
        expect(await page.evaluate(`${asked}('${command}', 'usnat')`)).toEqual([null, true]);
      const event = (eventName: string, listenerId: number, data: boolean) => [
        { eventName, listenerId, data, pingData: ping },
        true,
      ];
      expect(await page.evaluate(`${asked}('addEventListener')`)).toEqual(event('listenerRegistered', 1, true));
      expect(await page.evaluate(`${asked}('removeEventListener', 1)`)).toEqual(event('listenerRemoved', 1, true));
      expect(await page.evaluate(`${asked}('removeEventListener', 1)`)).toEqual(event('listenerRemoved', 1, false));
    });

    // CMP API v2, ping status codes: “error: CMP is in an error state”.
    test('learn from the stub that the service is away', async () => {
      await visit(STUB, '');
      const status = `['__tcfapi', '__gpp'].map((api) => { let said; const tell = ({ cmpStatus }) => { said = cmpStatus; }; window[api]('ping', api === '__gpp' ? tell : 2, tell); return said; })`;
      expect(await page.evaluate(status)).toEqual(['stub', 'stub']);
      await page.evaluate(`dispatchEvent(new Event('consent-ledger-error'))`);
      expect(await page.evaluate(status)).toEqual(['error', 'error']);
      // It came after all.
      await page.evaluate('start()');
      expect(await page.evaluate(`${status}[0]`)).toBe('loaded');
    });
  },
);
