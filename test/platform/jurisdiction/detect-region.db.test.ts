import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { get, type RunningApp, startApp } from '../../api/server/running-app.js';

const Region = z.object({ data: z.object({ region: z.unknown() }) });

describe.each([
  { name: 'behind a trusted proxy', proxies: '127.0.0.0/8' },
  { name: 'behind no trusted proxy', proxies: '198.51.100.7' },
])('the region in /tool/v1/config, $name', ({ proxies }) => {
  const isTrusted = proxies.startsWith('127.');
  let app: RunningApp;
  let key: string;
  beforeAll(async () => {
    app = await startApp('serve', {
      TRUSTED_PROXIES: proxies,
      GEO_COUNTRY_HEADER: 'CF-IPCountry',
      GEO_REGION_HEADER: 'X-Region',
    });
    key = (await app.seed()).keys.read;
  });
  afterAll(() => app.stop());
  const regionOf = async (headers: Record<string, string>): Promise<unknown> => {
    const answer = await get(app, '/tool/v1/config', key, headers);
    expect(answer.status).toBe(200);
    return Region.parse(answer.body).data.region;
  };
  const unknown = { country: null, region: null, compliance_framework: null, signal_is_request: false };
  const told = (region: typeof unknown | Record<string, string | boolean | null>) => (isTrusted ? region : unknown);

  it('is unknown for a local address', async () => {
    expect(await regionOf({})).toEqual(unknown);
  });

  it.each([
    [{ 'cf-ipcountry': 'TR' }, { country: 'TR', region: null, compliance_framework: 'kvkk', signal_is_request: false }],
    [
      { 'cf-ipcountry': 'us', 'x-region': 'ca' },
      { country: 'US', region: 'CA', compliance_framework: 'ccpa', signal_is_request: true },
    ],
    [
      { 'cf-ipcountry': 'US', 'x-region': 'US-NY' },
      { country: 'US', region: 'NY', compliance_framework: 'none', signal_is_request: false },
    ],
    [
      { 'cf-ipcountry': 'US', 'x-region': 'MD' },
      { country: 'US', region: 'MD', compliance_framework: 'none', signal_is_request: true },
    ],
    [
      { 'cf-ipcountry': 'US', 'x-region': 'Bavaria' },
      { country: 'US', region: null, compliance_framework: null, signal_is_request: false },
    ],
    [{ 'cf-ipcountry': 'XX', 'x-region': 'CA' }, unknown],
    [{ 'cf-ipcountry': 'T1' }, unknown],
    [{ 'cf-ipcountry': '<script>' }, unknown],
    [{ 'x-region': 'CA' }, unknown],
  ])('follows the headers %j of the trusted proxy only', async (headers, region) => {
    expect(await regionOf(headers)).toEqual(told(region));
  });

  it('otherwise follows the client address that the proxy forwards', async () => {
    const region = { country: 'TR', region: null, compliance_framework: 'kvkk', signal_is_request: false };
    expect(await regionOf({ 'x-forwarded-for': '193.140.28.1' })).toEqual(told(region));
    expect(await regionOf({ 'x-forwarded-for': '2001:a98::1', 'cf-ipcountry': 'XX' })).toEqual(told(region));
  });
});
