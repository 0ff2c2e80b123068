import { describe, expect, it } from 'vitest';
import { HostRefused, type LookUpHost } from '../../../src/platform/net/reach.js';
import { createWebhookTargets } from '../../../src/tenancy/webhooks/webhook-targets.js';

const NAMES: Readonly<Record<string, readonly string[]>> = {
  'public.example': ['8.8.8.8', '2606:4700::1111'],
  'inner.example': ['10.0.0.7'],
  'inner6.example': ['fd00::7', '64:ff9b:1::7'],
  'both.example': ['10.0.0.7', '8.8.8.8'],
  'listed.example': ['192.168.7.7'],
};
const failure = (code: string): Error => Object.assign(new Error(code), { code });
const lookUp: LookUpHost = (name, _options, callback) => {
  const addresses = (NAMES[name] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const error = addresses.length > 0 ? null : failure(name === 'slow.example' ? 'EAI_AGAIN' : 'ENOTFOUND');
  setImmediate(() => callback(error, addresses));
};

const outcome = (url: string, networks: readonly string[] = []): Promise<string> =>
  createWebhookTargets(networks, lookUp)
    .refuse(new URL(url))
    .then(
      () => 'taken',
      (error) => (error instanceof HostRefused ? error.message : String(error)),
    );
const NO_ADDRESS = 'the host has no public address';
const NO_TLS = 'the URL is not https';

describe('the URL of a webhook, when it is entered', () => {
  it.each([
    ['https://public.example/hook', 'taken'],
    ['https://both.example/hook', 'taken'],
    ['https://8.8.8.8/hook', 'taken'],
    ['https://slow.example/hook', 'taken'],
    ['http://public.example/hook', NO_TLS],
    ['http://8.8.8.8/hook', NO_TLS],
    ['http://10.0.0.7/hook', NO_TLS],
    ['https://inner.example/hook', NO_ADDRESS],
    ['https://inner6.example/hook', NO_ADDRESS],
    ['https://10.0.0.7/hook', NO_ADDRESS],
    ['https://0x7f.1/hook', NO_ADDRESS],
    ['https://[::1]/hook', NO_ADDRESS],
    ['https://[fec0::1]/hook', NO_ADDRESS],
    ['https://168.63.129.16/hook', NO_ADDRESS],
    // As for a private address, so that the answer does not tell which internal names exist.
    ['https://unknown.example/hook', NO_ADDRESS],
  ])('%s: %s', async (url, expected) => expect(await outcome(url)).toBe(expected));

  it.each([
    ['http://listed.example/hook', 'taken'],
    ['http://192.168.7.7/hook', 'taken'],
    ['https://192.168.7.7/hook', 'taken'],
    ['http://inner.example/hook', NO_TLS],
    ['http://public.example/hook', NO_TLS],
    ['http://8.8.8.8/hook', NO_TLS],
    ['https://10.0.0.7/hook', NO_ADDRESS],
  ])('%s beside a listed network: %s', async (url, expected) =>
    expect(await outcome(url, ['192.168.7.0/24'])).toBe(expected),
  );

  it('waits for two look-ups at most, and is let through beside them', async () => {
    let asked = 0;
    const targets = createWebhookTargets([], () => {
      asked += 1;
    });
    for (let n = 0; n < 2; n += 1) void targets.refuse(new URL('https://hangs.example/'));
    await targets.refuse(new URL('https://inner.example/'));
    expect(asked).toBe(2);
  });
});
