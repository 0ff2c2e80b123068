import { afterAll, beforeAll, expect, test } from 'vitest';
import { en } from '../../dashboard/src/i18n/en/index.js';
import {
  actText,
  decisionLook,
  filtersOf,
  isFiltered,
  proofLook,
  queryOf,
} from '../../dashboard/src/pages/consents/filters.js';

const { TZ } = process.env;
beforeAll(() => {
  process.env.TZ = 'Europe/Istanbul';
});
afterAll(() => {
  if (TZ === undefined) delete process.env.TZ;
  else process.env.TZ = TZ;
});

const DAYS = { from: '2026-11-01', to: '2026-11-02' };

test('days of a filter are those of the reader', () => {
  expect(queryOf(filtersOf(DAYS))).toEqual({ from: '2026-10-31T21:00:00.000Z', to: '2026-11-02T21:00:00.000Z' });
});

test('days that a number of the overview leads to are those of UTC, which it counts', () => {
  const filters = filtersOf({ ...DAYS, zone: 'UTC' });
  expect(queryOf(filters)).toEqual({ from: '2026-11-01T00:00:00.000Z', to: '2026-11-03T00:00:00.000Z' });
});

test('a zone without days filters nothing', () => {
  expect(isFiltered(filtersOf({ zone: 'UTC' }))).toBe(false);
});

test('only a time stamp that proves something to others is green', () => {
  const states = ['recorded', 'sealed', 'stamped', 'development'] as const;
  expect(states.filter((state) => proofLook(state) === 'good')).toEqual(['stamped']);
});

test('an opt-out and an objection look and read like neither a consent nor a refusal', () => {
  const shown = (consent_type: string, decision: 'accepted' | 'rejected' | 'withdrawn') => {
    const record = { consent_type, decision };
    return [decisionLook(record), actText(record, en.consents)];
  };
  expect(shown('cookie', 'accepted')).toEqual(['good', 'Accepted']);
  expect(shown('objection', 'rejected')).toEqual(['neutral', 'Objected']);
  expect(shown('objection', 'withdrawn')).toEqual(['neutral', 'Objection taken back']);
  expect(shown('do_not_sell_opt_out', 'accepted')).toEqual(['neutral', 'Opted out']);
  expect(shown('do_not_sell_opt_out', 'withdrawn')).toEqual(['neutral', 'Opt-out taken back']);
});
