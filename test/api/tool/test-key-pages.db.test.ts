import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ConfigResponse } from '../../../schemas/api/config.js';
import { ModelBrowser } from '../../../sdk/conformance/src/browser.js';
import { ConsentCore } from '../../../sdk/core/consent.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { createApiKey } from '../../../src/tenancy/api-keys/api-keys.js';
import { createLiveHosts } from '../../../src/tenancy/domains/live-hosts.js';
import { quietPage } from '../../sdk/core/model/quiet-page.js';
import { signedHeaders } from '../../support/signed-requests.js';
import { ask, get, type RunningApp, startApp } from '../server/running-app.js';

describe('a page with a test key', () => {
  let app: RunningApp;
  let demo: SeededDemo;
  let key: string;
  beforeAll(async () => {
    app = await startApp('api');
    demo = await app.seed({ allowedOrigins: [] });
    key = (await createApiKey(app.service.installation.adminPool, demo.site.id, 'write', { mode: 'test' })).key;
  });
  afterAll(() => app.stop());

  const configuration = async (apiKey: string, headers: Record<string, string>) => {
    const answer = await get(app, '/tool/v1/config', apiKey, headers);
    expect(answer.status).toBe(200);
    return ConfigResponse.parse(answer.body).data;
  };
  const optionalIn = async (headers: Record<string, string>): Promise<readonly string[]> =>
    (await configuration(key, headers)).categories.flatMap(({ key, required }) => (required ? [] : [key]));
  const allowOrigins = (origins: readonly string[]): Promise<void> =>
    app.change('update sites set allowed_origins = $2, config_revision = config_revision + 1 where id = $1', [
      demo.site.id,
      origins,
    ]);

  it('says Test in the title of the banner and on the button of the settings', async () => {
    const [live, test] = [await configuration(demo.keys.read, {}), await configuration(key, {})];
    expect(test.banner.title).toBe(`Test: ${live.banner.title}`);
    expect(test.labels.settings?.text).toBe(`Test: ${live.labels.settings?.text}`);
  });

  const NOTHING = ['svc_test'];
  const ANYTHING = expect.arrayContaining(['analytics']);
  it.each([
    ['the verified domain', (domain: string) => ({ origin: `https://${domain}` }), NOTHING],
    ['another port of it', (domain: string) => ({ origin: `http://${domain}:8443` }), NOTHING],
    ['the dot that may end it', (domain: string) => ({ origin: `https://${domain}.` }), NOTHING],
    ['its www.', (domain: string) => ({ origin: `https://www.${domain}` }), NOTHING],
    ['the domain, by its Referer', (domain: string) => ({ referer: `https://${domain}/cart` }), NOTHING],
    ['a page that hides its host', () => ({ origin: 'null' }), NOTHING],
    ['a browser that sends neither', () => ({ 'sec-fetch-site': 'same-origin' }), NOTHING],
    ['another subdomain', (domain: string) => ({ origin: `https://staging.${domain}` }), ANYTHING],
    ['this machine', () => ({ origin: 'http://localhost:3000' }), ANYTHING],
    ['an app', () => ({}), ANYTHING],
  ])('on %s offers %s', async (_, headersOf, expected) => {
    expect(await optionalIn(headersOf(demo.site.domain))).toEqual(expected);
  });

  it('permits nothing optional on a host of the allowed origins, and everything on this machine', async () => {
    const [shop, local] = ['https://other-shop.example', 'http://127.0.0.1:3000'];
    await allowOrigins([shop, local]);
    await expect.poll(() => optionalIn({ origin: shop }), { interval: 300 }).toEqual(NOTHING);
    expect(await optionalIn({ origin: local })).toEqual(ANYTHING);
    await allowOrigins([]);
    await expect.poll(() => optionalIn({ origin: shop }), { interval: 300 }).toEqual(ANYTHING);
  });

  it('permits nothing optional on a host that recorded with a live key', async () => {
    const { apiPool } = app.service.installation;
    const hosts = createLiveHosts(apiPool);
    for (const host of ['campaign.example', 'localhost']) hosts.note(demo.site.id, `https://${host}`);
    expect(await optionalIn({ origin: 'https://campaign.example' })).toEqual(ANYTHING);
    await hosts.flush();
    expect(await optionalIn({ origin: 'https://campaign.example' })).toEqual(NOTHING);
    expect(await optionalIn({ origin: 'http://localhost' })).toEqual(ANYTHING);
  });

  it('learns a host by its first consent with a live key, and no other costs a statement', async () => {
    const { apiPool } = app.service.installation;
    const hosts = createLiveHosts(apiPool);
    const query = vi.spyOn(apiPool, 'query');
    for (const _ of ['first', 'second', 'third']) {
      hosts.note(demo.site.id, 'https://known.example');
      await hosts.flush();
    }
    const statements = query.mock.calls.filter(([text]) => String(text).includes('live_hosts'));
    query.mockRestore();
    expect(statements).toHaveLength(1);
  });

  it('permits nothing optional that an earlier choice with a live key permitted, nor a choice that is made there', async () => {
    const origin = `https://${demo.site.domain}`;
    const address = { protocol: 'https:', hostname: demo.site.domain, pathname: '/' };
    const browser = new ModelBrowser(() => Date.now());
    const visit = (apiKey: string): ConsentCore =>
      new ConsentCore(
        { baseUrl: app.url, apiKey },
        {
          ...quietPage(browser, address),
          network: async ({ url, method, headers, body }) => {
            const answer = await fetch(url, { method, headers: { ...headers, origin }, ...(body && { body }) });
            return { status: answer.status, text: await answer.text(), retryAfter: null };
          },
          report: () => undefined,
        },
      );
    const permitted = async (consent: ConsentCore): Promise<boolean> => {
      await consent.start();
      return consent.allows('analytics');
    };
    const live = visit(demo.keys.write);
    await live.start();
    await live.acceptAll();
    expect(live.allows('analytics')).toBe(true);
    live.stop();
    const test = visit(key);
    const seen: boolean[] = [];
    test.subscribe(() => seen.push(test.allows('analytics')));
    expect(await permitted(test)).toBe(false);
    await test.acceptAll();
    expect([test.allows('analytics'), seen.includes(true)]).toEqual([false, false]);
    test.stop();
    const again = visit(demo.keys.write);
    expect(await permitted(again)).toBe(false);
    again.stop();
  });

  it('is told where consents with live keys came from, and not where those of test keys did', async () => {
    const record = async (apiKey: string, origin: string): Promise<void> => {
      const { documents } = await configuration(apiKey, {});
      const document = documents.find(({ kind }) => kind === 'cookie_policy');
      const consent = { consent_type: 'cookie', decision: 'accepted', document_version_id: document?.version.id };
      const [path, body] = ['/tool/v1/consents', JSON.stringify(consent)];
      const headers = { ...signedHeaders(apiKey, path, body), origin };
      expect(await ask(app.url + path, { method: 'POST', headers, body })).toMatchObject({ status: 202 });
    };
    await record(key, 'https://test.example');
    await record(demo.keys.write, 'https://Live.example:8443');
    await record(demo.keys.write, 'http://127.0.0.1:3000');
    await app.service.stop();
    const { rows } = await app.superuser.query(
      "select host from live_hosts where host in ('test.example', 'live.example', '127.0.0.1')",
    );
    expect(rows).toEqual([{ host: 'live.example' }]);
    const used = await app.superuser.query('select live_host from api_keys where is_test');
    expect(used.rows).toEqual([{ live_host: demo.site.domain }]);
  });
});
