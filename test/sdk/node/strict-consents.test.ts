import { expect, it } from 'vitest';
import { StrictConsents } from '../../../sdk/node/src/strict-consents.js';
import type { Consent } from '../../../sdk/shared/types.js';

const MINUTE_MS = 60_000;

/** Compares with a configuration that has these categories; null: it cannot be read. */
function strict(categories: string[] | null) {
  const site = { categories, reads: 0, now: 0 };
  const read = async () => {
    site.reads += 1;
    if (site.categories === null) throw new Error('no answer');
    return { categories: site.categories.map((key) => ({ key })) };
  };
  const checks = new StrictConsents(read, () => site.now);
  return {
    site,
    check: (more: Partial<Consent> & Record<string, unknown>) =>
      checks.check([{ consent_type: 'cookie', decision: 'partial', ...more }]),
  };
}

it.each([
  ['visitorId', 'Did you mean visitor_id?'],
  ['visitor', 'visitor is not a member of a consent'],
  ['toString', 'toString is not a member'],
])('refuses the member %s, which the service would ignore', async (name, words) => {
  await expect(strict([]).check({ [name]: 'x' })).rejects.toThrow(words);
});

it('reads the configuration again before it refuses a category, and at most once a minute otherwise', async () => {
  const { site, check } = strict(['necessary']);
  await check({ categories: { necessary: true } });
  await check({ categories: { necessary: false } });
  expect(site.reads).toBe(1);
  site.categories = ['necessary', 'analytics'];
  await check({ categories: { analytics: true } });
  expect(site.reads).toBe(2);
  await expect(check({ categories: { analytcs: true } })).rejects.toThrow('necessary, analytics');
  expect(site.reads).toBe(3);
  site.now = MINUTE_MS;
  site.categories = ['analytics'];
  await expect(check({ categories: { necessary: true } })).rejects.toThrow('categories.necessary');
});

it('never loses a decision because the configuration cannot be read', async () => {
  const { site, check } = strict(['necessary']);
  await check({ categories: { necessary: true } });
  site.categories = null;
  await check({ categories: { analytics: true } });
  expect(site.reads).toBe(2);
});

it('refuses a service that the site does not have', async () => {
  const categories = [{ key: 'media', services: [{ key: 'youtube' }] }];
  const checks = new StrictConsents(async () => ({ categories }));
  const consent = { consent_type: 'cookie', decision: 'partial', categories: { media: false } } as const;
  await checks.check([{ ...consent, services: { youtube: true } }]);
  await expect(checks.check([{ ...consent, services: { you: true } }])).rejects.toThrow(
    'services.you is not a service of the site, which has: youtube.',
  );
});
