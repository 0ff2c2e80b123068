import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, type RunningApp, startApp } from '../server/running-app.js';

const LIMIT = 6;
const NETWORK = '2001:db8:7:8';

describe('limits by address', () => {
  let app: RunningApp;
  beforeAll(async () => {
    app = await startApp('api', {
      TRUSTED_PROXIES: '127.0.0.1',
      INVALID_KEY_LIMIT: String(LIMIT),
      PUBLIC_VERIFY_LIMIT: String(LIMIT),
    });
  });
  afterAll(() => app.stop());

  const from = (address: string) => ({ 'x-forwarded-for': address });
  const attempts = {
    'unknown API keys': (address: string) =>
      ask(`${app.url}/tool/v1/ping`, { headers: { 'x-api-key': 'nonsense', ...from(address) } }),
    'public verifications': (address: string) =>
      ask(`${app.url}/api/v1/public/consents/verify?id=none`, { headers: from(address) }),
    'failed sign-ins': (address: string) =>
      ask(`${app.url}/api/v1/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...from(address) },
        body: JSON.stringify({ email: 'none@example.org', password: 'not the password' }),
      }),
  };

  it.each(Object.entries(attempts))('count %s of one IPv6 network together', async (_name, attempt) => {
    const statuses: number[] = [];
    // A minute can end between two requests, so that the window starts anew.
    for (let i = 1; i <= 5 * LIMIT; i += 1) statuses.push((await attempt(`${NETWORK}::${i.toString(16)}`)).status);
    expect(statuses).toContain(429);
    expect((await attempt('2001:db8:7:9::1')).status).not.toBe(429);
  });

  it.each(Object.entries(attempts))('count %s of an IPv4 address in both forms together', async (_name, attempt) => {
    const statuses: number[] = [];
    for (let i = 0; i < 3 * LIMIT; i += 1) {
      statuses.push((await attempt('198.51.100.1')).status, (await attempt('::ffff:c633:6401')).status);
    }
    const mapped = statuses.filter((_status, index) => index % 2 === 1);
    expect(mapped).toContain(429);
    expect((await attempt('::ffff:198.51.100.2')).status).not.toBe(429);
  });
});
