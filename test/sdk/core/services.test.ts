import { describe, expect, test } from 'vitest';
import type { Configuration } from '../../../sdk/core/answers.js';
import { askedIn, digestsOf, isAskedMore } from '../../../sdk/core/asked.js';
import { completed, type Kept } from '../../../sdk/core/choice.js';
import { readChoice, writeChoice } from '../../../sdk/core/choice-text.js';
import { allows } from '../../../sdk/core/machine.js';
import { recordedAs } from '../../../sdk/core/queue.js';
import { configurationIn } from './model/site.js';

/** `marketing` has the services `maps` and `films`, each with a switch. */
const SITE = configurationIn('gdpr', 'v1', [], ['maps', 'films']);
const WITHOUT_SWITCHES: Configuration = { ...SITE, service_switches: false };

const keptOf = (answers: Pick<Kept, 'categories' | 'services'>, configuration = SITE): Kept => ({
  at: 1,
  ...completed(configuration, answers),
  document_version_id: 'v1',
  language: 'en',
  isVoid: false,
  isSignalled: false,
  wasPermitted: false,
  asked: digestsOf(askedIn(configuration)),
});
const permitted = (newest: Kept, service: string, configuration = SITE): boolean =>
  allows({ newest, outdated: null, configuration, isUnavailable: false }, service, true, {
    choices: [],
    isSignalled: false,
    now: 2,
  });

describe('a choice with services', () => {
  test.each([
    ['everything', { analytics: true, marketing: true }, {}, 'accepted', true, { maps: true, films: true }],
    ['nothing', {}, {}, 'rejected', false, { maps: false, films: false }],
    ['one service alone', {}, { maps: true }, 'partial', false, { maps: true, films: false }],
    ['each service by name', {}, { maps: true, films: true }, 'partial', true, { maps: true, films: true }],
    [
      'a category without one service',
      { marketing: true },
      { maps: false },
      'partial',
      false,
      { maps: false, films: true },
    ],
    [
      'services of a refused category',
      { marketing: false },
      { maps: true, films: true },
      'partial',
      false,
      { maps: true, films: true },
    ],
  ])('permits %s', (_, categories, services, decision, marketing, all) => {
    const choice = completed(SITE, { categories, services });
    expect(choice).toMatchObject({ decision, services: all, isPermitted: decision !== 'rejected' });
    expect(choice.categories.marketing).toBe(marketing);
    // What is complete stays as it is.
    expect(completed(SITE, choice)).toEqual(choice);
  });

  test('ignores services that the site does not have, and all of them where it has no switches', () => {
    expect(completed(SITE, { categories: {}, services: { chat: true } }).services).toEqual({
      maps: false,
      films: false,
    });
    const choice = completed(WITHOUT_SWITCHES, { categories: { marketing: true }, services: { maps: false } });
    expect(choice).toMatchObject({ categories: { marketing: true } });
    expect(choice).not.toHaveProperty('services');
  });

  test('cannot refuse the services of a required category', () => {
    const [necessary, ...others] = SITE.categories;
    if (necessary === undefined) throw new Error('the site has categories');
    const pay = { key: 'pay', name: 'Pay', recipient: 'Pay', policy_url: null };
    const site: Configuration = { ...SITE, categories: [{ ...necessary, services: [pay] }, ...others] };
    const choice = completed(site, { categories: {}, services: { pay: false } });
    expect(choice).toMatchObject({ decision: 'rejected', categories: { necessary: true }, services: { pay: true } });
    expect(permitted(keptOf({ categories: {} }, site), 'pay', site)).toBe(true);
  });

  test('stands in the cookie in few characters, and an older reader sees the categories alone', () => {
    const choice = keptOf({ categories: {}, services: { maps: true } });
    const text = writeChoice(choice);
    expect(JSON.parse(decodeURIComponent(text))).toMatchObject({
      categories: 'necessary.!analytics.!marketing',
      services: 'maps.!films',
    });
    expect(readChoice(text)).toEqual({ ...choice, exempt: undefined });
    expect(readChoice(writeChoice(keptOf({ categories: {} }, WITHOUT_SWITCHES)))).not.toMatchObject({
      services: expect.anything(),
    });
  });

  test('permits a service by its own answer, else by that of its category, and never an unknown or later one', () => {
    const some = keptOf({ categories: {}, services: { maps: true } });
    expect([permitted(some, 'maps'), permitted(some, 'films'), permitted(some, 'chat')]).toEqual([true, false, false]);
    const before = keptOf({ categories: { marketing: true } }, WITHOUT_SWITCHES);
    expect([permitted(before, 'maps'), permitted(before, 'chat')]).toEqual([true, false]);
    const later = configurationIn('gdpr', 'v1', [], ['maps', 'films', 'chat']);
    expect(permitted(keptOf({ categories: { marketing: true } }), 'chat', later)).toBe(false);
    expect(permitted(keptOf({ categories: { marketing: true } }), 'constructor', later)).toBe(false);
  });

  test('is asked for again where a permitted category gets a service, or a permitted service another recipient', () => {
    const later = configurationIn('gdpr', 'v1', [], ['maps', 'films', 'chat']);
    const stored = askedIn(SITE);
    const asksAgain = (kept: Kept, site: Configuration) => isAskedMore(kept, site, stored);
    const all = keptOf({ categories: { marketing: true } });
    const some = keptOf({ categories: {}, services: { maps: true } });
    const none = keptOf({ categories: { analytics: true } });
    expect([all, some, none].map((one) => asksAgain(one, later))).toEqual([true, false, false]);
    const moved: Configuration = {
      ...SITE,
      categories: SITE.categories.map((one) => ({
        ...one,
        services: one.services?.map((service) => (service.key === 'maps' ? { ...service, recipient: 'B' } : service)),
      })),
    };
    expect([all, some, none].map((one) => asksAgain(one, moved))).toEqual([true, true, false]);
    // Switches alone ask for nothing that is new.
    expect(asksAgain(keptOf({ categories: { marketing: true } }, WITHOUT_SWITCHES), SITE)).toBe(false);
  });

  test('is not taken for a record with other services', () => {
    const body = JSON.stringify({
      consent_type: 'cookie',
      decision: 'partial',
      document_version_id: 'v1',
      categories: { marketing: false },
      services: { maps: true, films: false },
    });
    const record = (services: Record<string, boolean> | null) => ({
      consent_token: 'ct_1',
      proof_hash: 'f',
      created_at: '2026-01-01T00:00:00.000Z',
      decision: 'partial',
      categories: { marketing: false },
      services,
    });
    const item = { idempotency_key: 'k', body, queued_at: Date.UTC(2026, 0, 1) };
    expect(recordedAs(item, [record({ maps: true, films: false })], [])).not.toBeNull();
    expect(recordedAs(item, [record({ maps: false, films: true })], [])).toBeNull();
    // A service that does not know services states none.
    expect(recordedAs(item, [record(null)], [])).not.toBeNull();
  });
});
