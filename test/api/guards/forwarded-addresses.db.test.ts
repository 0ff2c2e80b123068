import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { signedHeaders } from '../../support/signed-requests.js';
import { ask, get, type RunningApp, startApp } from '../server/running-app.js';
import { Backend } from '../tool/export-fixture.js';

const LIMIT = 4;
const TURKISH = '193.140.28.1';
const Region = z.object({ data: z.object({ region: z.object({ country: z.string().nullable() }) }) });

describe('a client behind trusted proxies', () => {
  let app: RunningApp;
  let shop: Backend;
  beforeAll(async () => {
    app = await startApp('serve', { TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8', INVALID_KEY_LIMIT: String(LIMIT) });
    shop = await Backend.of(app);
  });
  afterAll(() => app.stop());

  const recordedAddress = async (forwardedFor: string): Promise<string | null | undefined> => {
    const path = '/tool/v1/consents';
    const visitor = randomUUID();
    const consent = { consent_type: 'cookie', decision: 'accepted', visitor_id: visitor };
    const body = JSON.stringify({ ...consent, document_version_id: shop.version('cookie_policy') });
    const headers = { ...signedHeaders(shop.demo.keys.write, path, body), 'x-forwarded-for': forwardedFor };
    expect((await ask(app.url + path, { method: 'POST', headers, body })).status).toBe(202);
    const found = async () => (await shop.page(`?visitor_id=${visitor}`)).data;
    await expect.poll(found).toHaveLength(1);
    return (await found())[0]?.ip_address;
  };
  const country = async (forwardedFor: string): Promise<string | null> =>
    Region.parse((await get(app, '/tool/v1/config', shop.demo.keys.read, { 'x-forwarded-for': forwardedFor })).body)
      .data.region.country;

  it.each([
    [`${TURKISH}:51234`, TURKISH, 'TR'],
    [`203.0.113.1, "${TURKISH}:51234", 10.0.0.2:443`, TURKISH, 'TR'],
    ['[2001:a98:0::1]:443', '2001:a98::1', 'TR'],
    [`${TURKISH}, unknown`, '127.0.0.1', null],
    [`${TURKISH}, _hidden, 10.0.0.2`, '10.0.0.2', null],
  ])('that they state as %s is recorded as %s, from the country %s', async (forwardedFor, address, from) => {
    expect(await recordedAddress(forwardedFor)).toBe(address);
    expect(await country(forwardedFor)).toBe(from);
  });

  it.each([
    ['with a port that changes', (n: number) => `198.51.100.7:${50_000 + n}`],
    ['with an IPv6 port that changes', (n: number) => `[2001:db8::7]:${50_000 + n}`],
    ['with a zone that changes', (n: number) => `fe80::7%eth${n}`],
    ['with a token that changes', (n: number) => `_hidden${n}`],
  ])('reaches its limit %s', async (_name, forwardedFor) => {
    const statuses: number[] = [];
    // A minute can end between two requests, so that the window starts anew.
    for (let n = 0; n < 3 * LIMIT; n += 1) {
      const headers = { 'x-forwarded-for': forwardedFor(n) };
      statuses.push((await get(app, '/tool/v1/ping', 'svc_live_nonsense', headers)).status);
    }
    expect(statuses).toContain(429);
  });

  it('is held to the list of addresses of a site', async () => {
    const site = await app.seed({ allowedIps: ['203.0.113.0/24'] });
    const statusOf = async (forwardedFor: string) =>
      (await get(app, '/tool/v1/ping', site.keys.read, { 'x-forwarded-for': forwardedFor })).status;
    expect(await statusOf('203.0.113.9:51234')).toBe(200);
    expect(await statusOf('203.0.113.9, unknown')).toBe(403);
  });
});
