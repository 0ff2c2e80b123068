import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { ModelBrowser } from '../../sdk/conformance/src/browser.js';
import { configurationOf } from '../../sdk/conformance/src/site.js';
import { ConsentCore } from '../../sdk/core/consent.js';
import { quietPage } from '../sdk/core/model/quiet-page.js';

const ADDRESS = { protocol: 'https:', hostname: 'www.shop.example', pathname: '/' };
const TOKEN = `ct_${'0'.repeat(32)}`;
const Sent = z.object({ consent_type: z.string(), decision: z.string() });

/** The rule of the place for each optional category of the site. */
type Rules = Readonly<Record<string, 'opt_in' | 'opt_out' | 'exempt'>>;

/** A visitor whose acts the service may refuse. Each page is opened an hour after the last. */
class Visitor {
  readonly browser = new ModelBrowser(() => Date.now());
  isSignalled = false;
  isRefused = false;
  /** The acts that the service recorded. */
  recorded: string[] = [];
  #consent: ConsentCore | undefined;

  async open(rules: Rules): Promise<ConsentCore> {
    vi.setSystemTime(Date.now() + 3_600_000);
    this.#consent?.stop();
    const keys = Object.keys(rules);
    const stated = Object.fromEntries(Object.entries(rules).filter(([, rule]) => rule !== 'opt_in'));
    const site = configurationOf({ rules: stated, added: keys });
    const configuration = {
      ...site,
      categories: site.categories.filter(({ key, required }) => required || keys.includes(key)),
    };
    this.#consent = new ConsentCore(
      { baseUrl: 'https://consent.example.org', apiKey: 'svc_live_x' },
      {
        ...quietPage(this.browser, ADDRESS),
        isSignalled: () => this.isSignalled,
        network: async ({ body }) => {
          if (body === undefined) return answer(200, { data: configuration });
          if (this.isRefused) return answer(422, { code: 'VALIDATION_ERROR', message: 'refused' });
          const { consent_type, decision } = Sent.parse(JSON.parse(body));
          this.recorded.push(`${consent_type} ${decision}`);
          return answer(202, {
            data: {
              consent_token: TOKEN,
              proof_hash: 'f'.repeat(64),
              created_at: new Date(Date.now()).toISOString(),
              duplicate: false,
              promise: null,
            },
          });
        },
        report: () => undefined,
      },
    );
    await this.#consent.start();
    await vi.advanceTimersByTimeAsync(0);
    return this.#consent;
  }

  /** What the service recorded since this was last read. */
  async news(): Promise<readonly string[]> {
    await vi.advanceTimersByTimeAsync(0);
    return this.recorded.splice(0).sort();
  }
}

const answer = (status: number, body: object) => ({ status, text: JSON.stringify(body), retryAfter: null });

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 11, 1) });
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test.each(['rejected', 'withdrawn', 'partial'])(
  '%s, of a backend that names no category, permits nothing',
  async (decision) => {
    const visitor = new Visitor();
    const { jar } = quietPage(visitor.browser, ADDRESS);
    const stated = { decision, categories: {}, document_version_id: 'v1', language: 'en', consent_token: TOKEN };
    jar.keep('_svc_consent', encodeURIComponent(JSON.stringify(stated)));
    const consent = await visitor.open({ ads: 'opt_out', stats: 'exempt' });
    expect([consent.allows('ads'), consent.allows('stats')]).toEqual([false, false]);
  },
);

test('an objection that the service refused stays in effect, and is recorded when it is repeated', async () => {
  const visitor = new Visitor();
  visitor.isRefused = true;
  const place: Rules = { stats: 'exempt', ads: 'opt_in' };
  await (await visitor.open(place)).rejectAll().catch(() => undefined);
  expect(await visitor.news()).toEqual([]);
  visitor.isRefused = false;
  const consent = await visitor.open(place);
  expect(consent.allows('stats')).toBe(false);
  await consent.rejectAll();
  expect(await visitor.news()).toEqual(['cookie rejected', 'objection rejected']);
  expect(consent.allows('stats')).toBe(false);
});

test('the end of an opt-out permits nothing after a later refusal, also one that the service refuses', async () => {
  const visitor = new Visitor();
  const consent = await visitor.open({ ads: 'opt_out' });
  await consent.optOutOfSale();
  await consent.optOutOfSale(false);
  expect(consent.allows('ads')).toBe(true);
  await consent.rejectAll();
  const later = await visitor.open({ ads: 'opt_out', more: 'opt_out' });
  expect([later.allows('ads'), later.allows('more')]).toEqual([false, false]);
  await later.optOutOfSale(false);
  visitor.isRefused = true;
  await later.choose({ more: true }).catch(() => undefined);
  await later.rejectAll().catch(() => undefined);
  await visitor.news();
  const last = await visitor.open({ ads: 'opt_out', more: 'opt_out' });
  expect([last.allows('ads'), last.allows('more')]).toEqual([false, false]);
});

test('a signal that was an objection in one place is recorded as an opt-out in the next', async () => {
  const visitor = new Visitor();
  visitor.isSignalled = true;
  const exempt = await visitor.open({ stats: 'exempt', ads: 'opt_in' });
  expect(await visitor.news()).toEqual(['objection rejected']);
  expect(exempt.allows('stats')).toBe(false);
  await visitor.open({ stats: 'exempt', ads: 'opt_in' });
  expect(await visitor.news()).toEqual([]);
  const optOut = await visitor.open({ stats: 'opt_out', ads: 'opt_out' });
  expect(await visitor.news()).toEqual(['do_not_sell_opt_out accepted']);
  expect(optOut.allows('ads')).toBe(false);
});
