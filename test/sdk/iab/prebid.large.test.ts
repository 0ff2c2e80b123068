import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TCString } from '@iabtechlabtcf/core';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { ChromiumPage, chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { inventedVendorList } from './vendor-list.js';

const BUILT = fileURLToPath(new URL('../../../sdk/browser/dist/', import.meta.url));
/** Folder with `node_modules/prebid.js` 11, which is too large for the repository: `npm install prebid.js@11`. */
const { PREBID = '' } = process.env;
const canRun =
  chromiumPath !== undefined && existsSync(`${BUILT}iab.js`) && existsSync(join(PREBID, 'node_modules/prebid.js'));

const SETTINGS = {
  tcf: {
    cmp_id: 300,
    cmp_version: 2,
    publisher_country: 'DE',
    vendor_list: { version: 120, sha256: '0' },
    // 32 is the vendor of the bidder below.
    vendors: [2, 32],
    purposes: { marketing: [1, 2, 3, 4] },
    special_features: {},
  },
};
/** The consent of a page; `choice` as a page finds it on return. */
const consentOf = (choice: string): string => `
  window.listeners = [];
  window.consent = {
    state: { status: '${choice === 'null' ? 'needed' : 'chosen'}', choice: ${choice}, configuration: { language: 'de', region: { compliance_framework: 'gdpr' } } },
    isGpcOn: false, areSettingsOpen: false, isOptedOutOfSale: false,
    asked: [['marketing', ...[1, 2, 3, 4].map((id) => 'marketing/p' + id)], ['marketing/v2', 'marketing/v32']],
    subscribe: (listener) => { listeners.push(listener); listener(); },
  };
  window.choose = (categories) => {
    consent.state = { ...consent.state, status: 'chosen', choice: { categories, language: 'de', at: Date.now() + listeners.push(() => {}) } };
    for (const listener of listeners) listener();
    return true;
  };
  import('/iab.js').then(({ speakIab }) => speakIab(consent, ${JSON.stringify(SETTINGS)}, location.origin));
  window.told = [];
  window.fetch = ((read) => (request, init) => {
    const url = String(request.url ?? request);
    return url.startsWith(location.origin) || url.startsWith('/') ? read(request, init) : Promise.resolve(new Response('{}'));
  })(fetch);
`;
const PAGE = (isEnforced: boolean): string => `
  import pbjs from 'prebid.js';
  import 'prebid.js/modules/consentManagementTcf.js';
  ${isEnforced ? "import 'prebid.js/modules/tcfControl.js';" : ''}
  import 'prebid.js/modules/appnexusBidAdapter.js';
  pbjs.processQueue();
  window.configure = (timeout, actionTimeout) => {
    pbjs.setConfig({ consentManagement: { gdpr: { cmpApi: 'iab', timeout, actionTimeout } } });
    pbjs.onEvent('bidRequested', ({ gdprConsent }) => told.push([gdprConsent?.gdprApplies, gdprConsent?.consentString]));
  };
  window.auction = () => new Promise((resolve) => pbjs.requestBids({
    timeout: 500,
    adUnits: [{ code: 'unit', mediaTypes: { banner: { sizes: [[300, 250]] } }, bids: [{ bidder: 'appnexus', params: { placementId: 1 } }] }],
    bidsBackHandler: () => resolve(told.splice(0)),
  }));`;
const Told = z.array(z.tuple([z.boolean(), z.string()]));

describe.skipIf(!canRun)(
  titleNeeding(
    'Chromium, the built SDK, or Prebid (PREBID, a folder with its package)',
    canRun,
    'an auction of Prebid',
  ),
  () => {
    const bundles = new Map<boolean, string>();
    let server: Server;
    let page: ChromiumPage;
    let origin: string;
    let html = '';
    beforeAll(async () => {
      for (const isEnforced of [false, true]) {
        const stdin = { contents: PAGE(isEnforced), resolveDir: PREBID };
        const { outputFiles } = await build({ stdin, bundle: true, write: false, format: 'iife', logLevel: 'error' });
        bundles.set(isEnforced, outputFiles?.[0]?.text ?? '');
      }
      server = createServer(async ({ url = '' }, response) => {
        if (url === '/page') response.setHeader('content-type', 'text/html; charset=utf-8').end(html);
        else if (url.startsWith('/sdk/vendor-lists/'))
          response.setHeader('content-type', 'application/json').end(JSON.stringify(inventedVendorList(120, [2, 32])));
        else if (url === '/iab.js' || url === '/iab-stub.js')
          response.setHeader('content-type', 'text/javascript').end(await readFile(BUILT + url.slice(1)));
        else if (url.startsWith('/prebid'))
          response.setHeader('content-type', 'text/javascript').end(bundles.get(url.includes('enforced')) ?? '');
        else response.writeHead(404).end();
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      origin = `http://127.0.0.1:${port}`;
      page = await ChromiumPage.open(chromiumPath ?? '');
    });
    afterAll(async () => {
      await page?.close();
      server?.closeAllConnections();
      server?.close();
    });

    /** Prebid is configured before the SDK is there, as pages do: it counts `timeout` else, where a platform answers at once. */
    const visit = async (choice: string, { isEnforced = false, timeout = 2_500, actionTimeout = 300 } = {}) => {
      html = `<!doctype html><title>Page</title><script src="/iab-stub.js"></script>
        <script src="/prebid${isEnforced ? '-enforced' : ''}.js"></script>
        <script>configure(${timeout}, ${actionTimeout}); ${consentOf(choice)}</script>`;
      await page.goto(`${origin}/page`);
    };
    const auction = async () => Told.parse(await page.evaluate('auction()'));
    /** Whether the GDPR applies, and the purposes, of the only bidder that was asked. */
    const said = async (): Promise<unknown> => {
      const [[applies, text] = [false, '']] = await auction();
      return [
        applies,
        text === '' ? null : [...TCString.decode(text).purposeConsents].flatMap(([id, is]) => (is ? id : [])),
      ];
    };

    test('is told before an answer that the GDPR applies, by a string without any consent', async () => {
      await visit('null');
      expect(await said()).toEqual([true, []]);
    });

    test('asks no bidder before an answer where Prebid enforces the string', async () => {
      await visit('null', { isEnforced: true });
      expect(await auction()).toEqual([]);
    });

    test('goes on without an answer after `actionTimeout`, however long it waits for the SDK', async () => {
      await visit('null', { timeout: 3_600_000, actionTimeout: 1 });
      expect(await said()).toEqual([true, []]);
    });

    test('waits for the answer for the time of `actionTimeout`', async () => {
      await visit('null', { timeout: 3_600_000, actionTimeout: 3_600_000 });
      const answer = page.evaluate('auction()');
      await page.evaluate('choose({ marketing: true })');
      const [[applies, text] = [false, '']] = Told.parse(await answer);
      expect([applies, TCString.decode(text).purposeConsents.size]).toEqual([true, 4]);
    });

    test('has the string of each choice: after a change, a withdrawal, and on return', async () => {
      await visit('null');
      await page.evaluate('choose({ marketing: true })');
      expect(await said()).toEqual([true, [1, 2, 3, 4]]);
      await page.evaluate('choose({})');
      expect(await said()).toEqual([true, []]);
      await visit(`{ categories: { marketing: true }, language: 'de', at: 1800000000000 }`, { isEnforced: true });
      expect(await said()).toEqual([true, [1, 2, 3, 4]]);
    });
  },
);
