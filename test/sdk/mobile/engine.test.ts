import { createHash, createHmac, randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { expect, test, vi } from 'vitest';
import type { Consent, MobileOptions } from '../../../sdk/mobile/src/index.js';
import { eventually } from '../../support/wait.js';
import { configurationIn } from '../core/model/site.js';

const ENTRY = fileURLToPath(new URL('../../../sdk/mobile/src/index.ts', import.meta.url));
const KEY = 'svc_live_ğ';

interface Sdk {
  readonly Consent: new (options: MobileOptions) => Consent;
}

/** The SDK in an engine without DOM, WebCrypto, `URL` and `TextEncoder`, as Hermes of React Native is. */
async function inEngine(): Promise<Sdk> {
  const options = { bundle: true, format: 'iife', globalName: 'sdk', write: false, target: 'es2020' } as const;
  const { outputFiles } = await build({ entryPoints: [ENTRY], ...options });
  const context = createContext({ setTimeout, clearTimeout, console });
  const missing = ['window', 'document', 'navigator', 'crypto', 'fetch', 'URL', 'TextEncoder', 'AbortController'];
  expect(runInContext(`[${missing.map((name) => `typeof ${name}`)}].join()`, context)).toBe(
    missing.map(() => 'undefined').join(),
  );
  return runInContext(`${outputFiles[0]?.text ?? ''}; sdk`, context);
}

/** A service that accepts what is signed. */
function answerTo(body: string | undefined, headers: Record<string, string>): object {
  if (body === undefined) return { data: configurationIn('gdpr') };
  const hash = createHash('sha256').update(body).digest('hex');
  const text = ['POST', '/tool/v1/consents', headers['X-Timestamp'], headers['X-Nonce'], hash].join('\n');
  expect(headers['X-Signature']).toBe(createHmac('sha256', KEY).update(text).digest('hex'));
  const data = { consent_token: 'ct_1', proof_hash: 'f', created_at: new Date().toISOString(), duplicate: false };
  return { data: { ...data, promise: null } };
}

function optionsOf(texts: Map<string, string>, sent: string[]): MobileOptions {
  return {
    baseUrl: 'https://consent.example/',
    apiKey: KEY,
    origin: 'app://com.example.shop',
    storage: {
      keys: async () => [...texts.keys()],
      get: async (name) => texts.get(name) ?? null,
      set: async (name, text) => void texts.set(name, text),
      remove: async (name) => void texts.delete(name),
    },
    randomBytes,
    fetch: async (url, { method, headers, body }) => {
      expect(headers.Origin).toBe('app://com.example.shop');
      expect(headers['X-API-Key'] ?? new URL(url).searchParams.get('key')).toBe(KEY);
      sent.push(`${method} ${url.split('?')[0]}`);
      const answer = JSON.stringify(answerTo(body, headers));
      return { status: body === undefined ? 200 : 202, headers: { get: () => null }, text: async () => answer };
    },
  };
}

test('an engine without a page signs and records a choice, and its next run knows it', async () => {
  const { Consent } = await inEngine();
  const [texts, sent] = [new Map<string, string>(), [] as string[]];
  const first = new Consent(optionsOf(texts, sent));
  expect((await first.start()).status).toBe('needed');
  const consent_token = (await first.choose({ analytics: true, ünlü: false }))?.consent_token;
  expect(first.proofPage).toBe(`https://consent.example/verify#${consent_token}`);
  await first.kept();
  first.stop();
  const second = new Consent(optionsOf(texts, sent));
  expect((await second.start()).choice).toMatchObject({ decision: 'partial', consent_token });
  expect([second.allows('analytics'), second.allows('marketing')]).toEqual([true, false]);
  expect(sent).toEqual(['GET https://consent.example/tool/v1/config', 'POST https://consent.example/tool/v1/consents']);
  second.stop();
});

test('without a source of random bytes nothing is asked, and the reason is stated', async () => {
  const { Consent } = await inEngine();
  const { randomBytes: _, ...options } = optionsOf(new Map(), []);
  const state = await new Consent(options).start();
  expect(state).toMatchObject({ status: 'unavailable', error: { code: 'UNAVAILABLE' } });
  expect(state.error?.message).toContain('randomBytes');
});

test('a service that was away at the start is asked again when the app is resumed, once at a time', async () => {
  const error = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const { Consent } = await inEngine();
  const sent: string[] = [];
  const options = optionsOf(new Map(), sent);
  let isAway = true;
  const away = { status: 503, headers: { get: () => '3600' }, text: async () => '' };
  const consent = new Consent({
    ...options,
    fetch: async (url, request) => (isAway ? away : options.fetch?.(url, request)) ?? away,
  });
  expect(await consent.start()).toMatchObject({ status: 'unavailable', error: { status: 503 } });
  isAway = false;
  consent.resume();
  consent.resume();
  await eventually(() => expect(consent.state).toMatchObject({ status: 'needed', error: null }));
  expect(sent).toEqual(['GET https://consent.example/tool/v1/config']);
  consent.stop();
  // A developer without a subscription learns the reason, too.
  expect(error.mock.calls.flat()).toEqual(['Consent Ledger: UNEXPECTED_ANSWER: Unexpected: 503']);
  error.mockRestore();
});

test('a storage that refuses a refusal gives no earlier permission back, and the console says so once', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const { Consent } = await inEngine();
  const texts = new Map<string, string>();
  const options = optionsOf(texts, []);
  const first = new Consent(options);
  await first.start();
  await first.acceptAll();
  await first.kept();
  first.stop();
  const full = { ...options.storage, set: () => Promise.reject(new Error('full')) };
  const second = new Consent({ ...options, storage: full });
  await second.start();
  expect(second.allows('analytics')).toBe(true);
  for (let times = 0; times < 3; times += 1) {
    await second.rejectAll();
    await second.kept();
  }
  second.stop();
  expect(warn.mock.calls.flat().filter((text) => String(text).includes('keeps no choice'))).toHaveLength(1);
  warn.mockRestore();
  const third = new Consent(options);
  expect((await third.start()).status).toBe('needed');
  expect(third.allows('analytics')).toBe(false);
  third.stop();
});
