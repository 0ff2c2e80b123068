import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { cellsOf, publicationsOf, type Rule, readRulesTable } from './rules-table.js';

const FIRST = readRulesTable('rules-table-a.json');
const RuleName: z.ZodType<Rule> = z.enum(['opt_in', 'opt_out', 'exempt']);

/** Names of the second table, and the first table's for the same. */
const PLACES: Readonly<Record<string, string>> = {
  DE: 'eea',
  FR: 'eea',
  GB: 'gb',
  CH: 'ch',
  TR: 'tr',
  IN: 'in',
  'US-CA': 'us_signal',
  'US-CO': 'us_signal',
  'US-VA': 'us_law',
  'US-AL': 'us_other',
  unknown: 'unknown',
};
const KINDS: Readonly<Record<string, string>> = {
  statistics: 'own_statistics',
  appearance: 'appearance',
  functional_media: 'other',
  advertising: 'advertising',
};
const EVENTS: Readonly<Record<string, string>> = {
  no_choice_yet: 'no_choice',
  accepted: 'accept',
  refused: 'refuse',
  objected: 'object',
  objection_taken_back: 'take_back',
  withdrew_after_accepting: 'withdraw',
  signal_on_without_any_choice: 'signal',
  signal_switched_on_later_than_acceptance: 'signal_after_accept',
  acceptance_made_while_signal_on: 'accept_during_signal',
  signal_switched_off_after_it_had_stopped_something_no_choice: 'signal_off',
  acceptance_period_over: 'period_over_after_accept',
  refusal_period_over: 'period_over_after_refuse',
};
const STATES: Readonly<Record<string, string>> = {
  no_choice: 'no_choice',
  accepted: 'accept',
  refused: 'refuse',
  objected_or_opted_out: 'object',
};
/** Where the first table lets a rule be published, for its cells. */
const PLACE_OF: Readonly<Record<Rule, string>> = { opt_in: 'eea', opt_out: 'us_signal', exempt: 'gb' };

function read<T>(file: string, row: z.ZodType<T>): readonly T[] {
  return z.array(row).parse(JSON.parse(readFileSync(new URL(`second-table/${file}`, import.meta.url), 'utf8')));
}

test('the first table lets no rule be published that the second refuses', () => {
  const rows = read(
    'table-1.json',
    z.looseObject({ place: z.string(), category_kind: z.string(), rule: RuleName, answer: z.string() }),
  );
  const wider = rows.filter(({ place, category_kind, rule, answer }) => {
    const [of, kind] = [PLACES[place], KINDS[category_kind]];
    if (of === undefined || kind === undefined) return false;
    return publicationsOf(FIRST, { place: of, rule, kind }).some(({ allowed }) => allowed) && answer !== 'allowed';
  });
  expect(wider).toEqual([]);
});

test('what may run differs in three kinds of cells, which the second table’s README names', () => {
  const rows = read(
    'table-2.json',
    z.looseObject({
      rule: RuleName,
      rule_before: z.string(),
      category_kind: z.string(),
      event: z.string(),
      state_before: z.string(),
      permitted: z.enum(['yes', 'no']),
    }),
  );
  let compared = 0;
  const other = rows.flatMap(({ rule, rule_before, category_kind, event, state_before, permitted }) => {
    const change = event.startsWith('configuration_new_') ? event.replace('configuration_', '') : undefined;
    const state = STATES[state_before];
    const moved =
      event.startsWith('place_changed_') && state !== undefined ? `from_${rule_before}_${state}` : undefined;
    const name =
      EVENTS[event] ?? moved ?? (change !== undefined && state !== undefined ? `${change}_after_${state}` : '');
    const kind = KINDS[category_kind];
    if (kind === undefined) return [];
    const key = { place: PLACE_OF[rule], rule, kind, event: name };
    const isPublished = publicationsOf(FIRST, key).some(({ allowed }) => allowed);
    const [cell] = isPublished ? cellsOf(FIRST, key) : [];
    if (cell === undefined) return [];
    compared += 1;
    return cell.permitted === (permitted === 'yes') ? [] : [`${rule}: ${name}`];
  });
  expect(compared).toBeGreaterThan(150);
  expect([...new Set(other)].sort()).toEqual([
    'exempt: signal',
    'exempt: signal_after_accept',
    'exempt: signal_off',
    'opt_in: new_purpose_after_accept',
    'opt_in: new_recipient_after_accept',
    'opt_out: period_over_after_accept',
  ]);
});
