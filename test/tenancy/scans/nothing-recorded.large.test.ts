import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { createReach } from '../../../src/platform/net/reach.js';
import { createApiKey } from '../../../src/tenancy/api-keys/api-keys.js';
import { Faults, type Visitor } from '../../../src/tenancy/scans/visit.js';
import { visitByBrowser } from '../../../src/tenancy/scans/visit-by-browser.js';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { FaultyFront } from '../../sdk/faulty-front.js';
import { ChromiumPage, chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { signedHeaders } from '../../support/signed-requests.js';
import { PATIENCE_MS } from '../../support/wait.js';
import { fixedLookUp, NEW_VISITOR, startSite, type TestSite } from './scanned-shop.js';

const canRun = chromiumPath !== undefined;
const TIMES = { answerMs: PATIENCE_MS, loadMs: PATIENCE_MS, settleMs: 2_000, visitMs: 2 * PATIENCE_MS };
const REGIONS = [
  ['US', 'CA'],
  ['US', 'TX'],
  ['FR', ''],
  ['TR', ''],
  ['', ''],
] as const;
/** The ways by which a page sends its own requests: each by a POST that the service would record. */
const SENDERS = ['page', 'kept', 'frame', 'foreign', 'worker', 'shared', 'service'] as const;
const PATH = '/tool/v1/consents';

describe.skipIf(!canRun)(titleNeeding('Chromium', canRun, 'a scan records nothing about a person'), () => {
  let app: RunningApp;
  let front: FaultyFront;
  let demo: SeededDemo;
  let testKey: string;
  let shop: TestSite;
  /** What the pages found `navigator.globalPrivacyControl` to be, by sender. */
  const seen = new Map<string, string>();

  beforeAll(async () => {
    const headers = { GEO_COUNTRY_HEADER: 'x-country', GEO_REGION_HEADER: 'x-region', TRUSTED_PROXIES: '127.0.0.1' };
    // Without a worker nothing but requests writes to the database.
    app = await startApp('api', headers);
    front = await FaultyFront.open(app.url);
    shop = await startSite('127.0.0.1', (request, response) => {
      const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
      if (url.pathname === '/seen') seen.set(url.searchParams.get('by') ?? '', url.searchParams.get('value') ?? '');
      const isScript = url.pathname.endsWith('.js');
      response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' }).end(contentOf(url));
    });
    const allowedOrigins = [`http://localhost:${shop.port}`, `http://foreign.localhost:${shop.port}`];
    demo = await app.seed({ allowedOrigins });
    testKey = (await createApiKey(app.service.installation.adminPool, demo.site.id, 'write', { mode: 'test' })).key;
  });
  afterAll(async () => {
    await front?.close();
    await app?.stop();
    await shop?.close();
  });

  const policy = () =>
    demo.documents
      .find(({ kind }) => kind === 'cookie_policy')
      ?.versions.find(({ state, language }) => state === 'active' && language === 'en');

  /** A script that records a consent by itself, and says whether it sees the signal. */
  const sending = (by: (typeof SENDERS)[number], key = demo.keys.write): string => {
    const content = {
      consent_type: 'do_not_sell_opt_out',
      decision: 'accepted',
      document_version_id: policy()?.id,
      visitor_id: `${by}-${Math.random()}`,
    };
    const body = JSON.stringify(content);
    const init = { method: 'POST', headers: signedHeaders(key, PATH, body), body, keepalive: by === 'kept' };
    return `fetch(${JSON.stringify(front.url + PATH)}, ${JSON.stringify(init)}).catch(() => undefined);
      fetch('/seen?by=${by}&value=' + navigator.globalPrivacyControl);`;
  };
  const contentOf = ({ pathname, host }: URL): string => {
    const name = SENDERS.find((one) => pathname === `/${one}.js`);
    if (name !== undefined) return sending(name);
    if (pathname === '/frame') return `<script>${sending('frame', testKey)}</script>`;
    if (pathname === '/foreign') return `<script>${sending('foreign')}</script>`;
    if (pathname !== '/') return '';
    const batch = JSON.stringify({ consents: [] });
    return `<!doctype html><html lang="en"><title>Shop</title>
      <script src="${front.url}/sdk/consent.js" data-api-key="${demo.keys.write}"></script>
      <script>
        ${sending('page')} ${sending('kept')}
        navigator.sendBeacon('${front.url}${PATH}', '{}');
        fetch('${front.url}/tool/v1/consents/batch', { method: 'POST', body: ${JSON.stringify(batch)}, mode: 'no-cors' });
        new Worker('/worker.js'); new SharedWorker('/shared.js'); navigator.serviceWorker.register('/service.js');
        addEventListener('pagehide', () => navigator.sendBeacon('${front.url}${PATH}', '{}'));
      </script>
      <iframe src="/frame"></iframe>
      <iframe src="http://foreign.${host}/foreign"></iframe>
      <iframe name="target"></iframe>
      <form method="post" target="target" action="${front.url}/tool//v1/%63onsents"></form>
      <script>document.forms[0].submit()</script>`;
  };

  const Tables = z.array(z.object({ name: z.string() }));
  const Counts = z.array(z.object({ count: z.int() }));
  /**
   * The number of rows of every table: of the event log, of the test records, of all others, but for keys that the
   * service makes ahead, and the counts of requests.
   */
  const rows = async (): Promise<Readonly<Record<string, number>>> => {
    const { rows: tables } = await app.superuser.query(
      `select format('%I.%I', schemaname, relname) as name from pg_stat_user_tables
        where relname not in ('keyring', 'rate_limit_windows') order by 1`,
    );
    const counts: Record<string, number> = {};
    for (const { name } of Tables.parse(tables)) {
      const [row] = Counts.parse((await app.superuser.query(`select count(*) from ${name}`)).rows);
      counts[name] = row?.count ?? -1;
    }
    return counts;
  };
  const visit = (visitor: Visitor) => {
    const reach = createReach(
      ['127.0.0.1/32'],
      fixedLookUp({ localhost: ['127.0.0.1'], 'foreign.localhost': ['127.0.0.1'] }),
    );
    const target = { url: new URL(`http://localhost:${shop.port}/`), allows: () => true };
    return visitByBrowser(
      chromiumPath ?? '',
      reach,
      new Faults(),
      TIMES,
    )(target, visitor, new AbortController().signal);
  };
  const arrive = (country: string, region: string): void => {
    front.received.length = 0;
    shop.asked.length = 0;
    seen.clear();
    Object.assign(front.added, { 'x-country': country, 'x-region': region });
  };

  test.each(
    REGIONS.flatMap(([country, region]) => [false, true].map((isSignalled) => ({ country, region, isSignalled }))),
  )('in $country-$region, with the signal: $isSignalled', async ({ country, region, isSignalled }) => {
    arrive(country, region);
    const before = await rows();
    const found = await visit({ ...NEW_VISITOR, isSignalled });
    expect(found.isComplete).toBe(true);
    expect(front.received).toEqual([]);
    expect(await rows()).toEqual(before);
    // Every sender ran, and saw what the scan says.
    expect(Object.fromEntries(seen)).toEqual(
      Object.fromEntries(SENDERS.map((one) => [one, isSignalled ? 'true' : 'undefined'])),
    );
    for (const { path, signal } of shop.asked) expect(signal, path).toBe(isSignalled ? '1' : undefined);
  });

  test('but the same page records everything when it is opened by a person', async () => {
    arrive('US', 'CA');
    const before = await rows();
    const page = await ChromiumPage.open(chromiumPath ?? '');
    try {
      await page.goto(`http://localhost:${shop.port}/`);
      await expect.poll(() => [...seen.keys()].sort(), { timeout: PATIENCE_MS }).toEqual([...SENDERS].sort());
      await expect
        .poll(() => front.received.length, { timeout: PATIENCE_MS })
        .toBeGreaterThanOrEqual(SENDERS.length + 2);
    } finally {
      await page.close();
    }
    const after = await rows();
    const grown = Object.keys(after).filter((name) => after[name] !== before[name]);
    expect(grown).toEqual(expect.arrayContaining(['public.test_records']));
    expect(grown.length).toBeGreaterThan(1);
  });
});
