import { afterEach, expect, test, vi } from 'vitest';
import { CookieRenewal } from '../../../sdk/browser/src/cookie-renewal.js';

afterEach(() => vi.unstubAllGlobals());

test.each([
  ['its cookies came', true, 1],
  ['not where the browser took none', false, 0],
])('a renewal counts if %s', async (_, hasCome, times) => {
  vi.stubGlobal('fetch', async () => new Response(null, { status: 204 }));
  const written: string[] = [];
  const store = {
    read: () => undefined,
    write: (name: string) => written.push(name) > 0,
    remove: () => undefined,
    names: () => [],
  };
  await new Promise<void>((resolve) => new CookieRenewal('/renew', store, () => hasCome).renew(true, resolve));
  expect(written).toEqual(Array.from({ length: times }, () => 'renewed'));
});
