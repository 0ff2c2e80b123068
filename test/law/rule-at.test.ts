import { describe, expect, test } from 'vitest';
import type { SiteRule } from '../../schemas/events/site-config.js';
import { FRAMEWORK_PLACES, frameworkOf } from '../../schemas/law/framework-places.js';
import { refusalDays } from '../../schemas/law/periods.js';
import { isSignalRequest, ruleAt } from '../../schemas/law/rule-at.js';
import { US_STATES } from '../../schemas/law/us-states.js';
import { readRulesTable } from './rules-table.js';

const table = readRulesTable('rules-table-a.json');

/** A place as the service detects it. @param code for example `US-CO`, `FR` or nothing */
function placeOf(code: string) {
  const [country = null, region = null] = code === '' ? [] : code.split('-');
  return { country, region, compliance_framework: frameworkOf(country, region) };
}

const rule = (id: string, where: Omit<SiteRule, 'id' | 'categories'>): SiteRule => ({
  id,
  ...where,
  categories: { statistics: { rule: 'opt_in' } },
});

test('the states of the code are those of the table of rules', () => {
  expect(US_STATES).toEqual(
    table.states.map(({ code, name, law, inForceSince, signalSince, gpp: { section }, source }) => ({
      code,
      law: `${name}: ${law}`.replaceAll("'", '’'),
      inForceSince,
      signalSince,
      gpp: section,
      source: source.replaceAll("'", '’'),
    })),
  );
});

describe('a signal is itself a request', () => {
  const gdpr = FRAMEWORK_PLACES.find(({ framework }) => framework === 'gdpr')?.places ?? [];
  const named = (group: string): readonly string[] => table.places[group]?.members.split(' ') ?? [];

  test('in the states whose law says so, and nowhere else', () => {
    const elsewhere = [
      ...named('us_law'),
      ...gdpr,
      'GB',
      'CH',
      'TR',
      'IN',
      'US-FL',
      'US-WA',
      'US-PR',
      'CA',
      'JP',
      'US',
      '',
    ];
    const requests = [...named('us_signal'), ...elsewhere].filter((code) => isSignalRequest(placeOf(code), null));
    expect(requests).toEqual(named('us_signal'));
  });

  test('wherever the rule of the site relies on an opt-out', () => {
    const relying: SiteRule = { ...rule('virginia', {}), categories: { ads: { rule: 'opt_out' } } };
    expect(isSignalRequest(placeOf('US-VA'), relying)).toBe(true);
    expect(isSignalRequest(placeOf('US-VA'), rule('virginia', {}))).toBe(false);
  });
});

describe('the rule of a place', () => {
  const rules = [
    rule('california', { places: ['US-CA'] }),
    rule('states', { places: ['US-CA', 'US-CO', 'US'] }),
    rule('britain', { places: ['GB'] }),
    rule('europe', { frameworks: ['gdpr', 'uk_gdpr', 'ccpa'] }),
  ];

  test.each([
    ['US-CA', 'california'],
    ['US-CO', 'states'],
    ['US-VA', 'states'],
    ['GB', 'britain'],
    ['GB-SCT', 'britain'],
    ['FR', 'europe'],
    ['FR-IDF', 'europe'],
    ['JP', null],
    ['CA', null],
    ['US', null],
    ['', null],
  ])('%j is %j: the first that matches', (code, id) => {
    expect(ruleAt(rules, placeOf(code))?.id ?? null).toBe(id);
  });

  test('is none in a configuration of before', () => {
    expect(ruleAt(undefined, placeOf('US-CA'))).toBeNull();
  });
});

test.each([
  [{ validity_days: 365 }, 365],
  [{ validity_days: 90 }, 180],
  [{ validity_days: null }, null],
  [{ validity_days: 365, refusal_days: 30 }, 30],
  [{ validity_days: 365, refusal_days: null }, null],
])('a refusal is kept by %j for %j days', (periods, days) => {
  expect(refusalDays(periods)).toBe(days);
});
