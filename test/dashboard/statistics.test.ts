import { afterAll, expect, test, vi } from 'vitest';
import { en } from '../../dashboard/src/i18n/en/index.js';
import { formatsOf } from '../../dashboard/src/i18n/formats.js';
import { rowsBeside, tableOf } from '../../dashboard/src/pages/statistics/breakdown-table.js';
import { finishedMonths, shownOf } from '../../dashboard/src/pages/statistics/shown-months.js';
import { csvOf } from '../../dashboard/src/ui/csv.js';

vi.stubGlobal('navigator', { languages: ['en-GB'] });
const formats = formatsOf('en');
afterAll(() => {
  vi.unstubAllGlobals();
});

test('months are those of UTC that are over, also across a year', () => {
  const months = finishedMonths(Date.parse('2026-02-28T23:59:59Z'));
  expect(months.slice(0, 3)).toEqual(['2026-01', '2025-12', '2025-11']);
  expect(months).toHaveLength(24);
});

test('an address that names no month or property chooses none', () => {
  expect(shownOf({ by: 'country', month: 'March', beside: '2026-01' })).toEqual({ beside: '2026-01' });
});

test('hidden counts are words, and a rate is shown where there is one', () => {
  const few = 'fewer_than_10';
  const rows = [
    { value: 'de', accepted: 300, partial: 20, rejected: 80, withdrawn: few, acceptance_rate: 0.75 },
    { value: 'fr', accepted: 'not_shown', partial: 10, rejected: few, withdrawn: few, acceptance_rate: null },
  ] as const;
  const table = tableOf({ month: '2026-03', by: 'language', rows: [...rows] }, en, formats);
  expect(table.headings).toEqual([
    'Language',
    'Accepted',
    'Partly accepted',
    'Rejected',
    'Withdrawn',
    'Acceptance rate',
  ]);
  expect(table.rows.map(({ cells }) => cells)).toEqual([
    ['German', '300', '20', '80', 'Fewer than 10', '75%'],
    ['French', 'Not shown', '10', 'Fewer than 10', 'Fewer than 10', '–'],
  ]);
});

test('a category is accepted or rejected, and is no formula in a spreadsheet', () => {
  const row = { value: '=ads', accepted: 10, partial: null, rejected: 11, withdrawn: null, acceptance_rate: null };
  const { headings, rows } = tableOf({ month: '2026-03', by: 'category', rows: [row] }, en, formats);
  expect(headings).toEqual(['Category', 'Accepted', 'Rejected']);
  const csv = csvOf([headings, ...rows.map(({ cells }) => cells)]);
  expect(csv).toContain('"10","11"');
  expect(csv).not.toContain('"=ads"');
});

test('two months stand in one table, also where only one of them has a value', () => {
  const few = 'fewer_than_10';
  const of = (value: string, accepted: number) => ({
    month: '2026-03',
    by: 'language' as const,
    rows: [{ value, accepted, partial: few, rejected: few, withdrawn: few, acceptance_rate: null } as const],
  });
  const [march, april] = [of('de', 12), of('fr', 34)].map((one) => tableOf(one, en, formats));
  if (march === undefined) throw new Error('there is no table');
  expect(rowsBeside(march, april).map(({ cells }) => cells.slice(0, 2))).toEqual([
    [['German'], ['12', '–']],
    [['French'], ['–', '34']],
  ]);
});
