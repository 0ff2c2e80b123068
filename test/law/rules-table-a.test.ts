import { readFileSync } from 'node:fs';
import { GppModel, Sections } from '@iabgpp/cmpapi';
import { describe, expect, test } from 'vitest';
import { cellOf, cellsOf, everyKey, type Key, publicationsOf, type Rule, readRulesTable } from './rules-table.js';

const table = readRulesTable('rules-table-a.json');
const keys = everyKey(table);
const optional = keys.filter(({ kind }) => kind !== 'required');

/** The combinations of some events for which a statement about the cell is false. */
function wrong(
  events: RegExp,
  isRight: (cell: ReturnType<typeof cellOf>, key: Key) => boolean,
  among: readonly Key[] = optional,
): readonly Key[] {
  const tried = among.filter(({ event }) => events.test(event));
  expect(tried).not.toEqual([]);
  return tried.filter((key) => !isRight(cellOf(table, key), key));
}

const isAllowed = (rule: Rule, place: string, kind: string) =>
  publicationsOf(table, { rule, place, kind }).every(({ allowed }) => allowed);

describe('the first table of rules by law', () => {
  test('says for each place, rule and kind once whether the rule may be published', () => {
    expect(keys.filter((key) => publicationsOf(table, key).length !== 1)).toEqual([]);
  });

  test('has one cell for each place, rule, kind and event', () => {
    expect(keys.filter((key) => cellsOf(table, key).length !== 1)).toEqual([]);
  });

  test('has no row that names something unknown, twice, or for a rule that is never in force there', () => {
    const names = { places: table.places, kinds: table.kinds, events: table.events };
    for (const row of [...table.publication, ...table.cells])
      for (const [list, known] of Object.entries(names)) {
        const some: readonly string[] = Object.entries(row).flatMap(([name, value]) =>
          name === list && Array.isArray(value) ? value : [],
        );
        expect(some.filter((one) => !Object.hasOwn(known, one))).toEqual([]);
        expect(new Set(some).size).toBe(some.length);
      }
    const idle = table.cells.filter(
      ({ rule, places, kinds }) =>
        rule !== 'opt_in' && places.some((place) => kinds.some((kind) => !isAllowed(rule, place, kind))),
    );
    expect(idle).toEqual([]);
  });

  test('allows opt_out in listed states, exempt for two kinds in the United Kingdom, and no rule on what is required', () => {
    const places = Object.keys(table.places);
    const kinds = Object.keys(table.kinds);
    const allowed = (rule: Rule) =>
      places.flatMap((place) => kinds.filter((kind) => isAllowed(rule, place, kind)).map((kind) => `${place} ${kind}`));
    const others = kinds.filter((kind) => kind !== 'required');
    expect(allowed('opt_in')).toEqual(places.flatMap((place) => others.map((kind) => `${place} ${kind}`)));
    expect(allowed('opt_out')).toEqual(
      ['us_signal', 'us_law'].flatMap((place) => others.map((kind) => `${place} ${kind}`)),
    );
    expect(allowed('exempt')).toEqual(['gb own_statistics', 'gb appearance']);
  });

  test('lets what is required run, unasked and unrecorded', () => {
    const required = keys.filter(({ kind }) => kind === 'required');
    expect(
      wrong(/./, ({ permitted, asked, recorded }) => permitted && !asked && recorded === 'none', required),
    ).toEqual([]);
  });

  test('waits for consent in an unknown place, whatever the rule', () => {
    const unknown = optional.filter(({ place }) => place === 'unknown');
    expect(wrong(/./, (cell) => cell.rule === 'opt_in', unknown)).toEqual([]);
    expect(wrong(/^no_choice$/, ({ permitted, asked }) => !permitted && asked, unknown)).toEqual([]);
  });

  test('leaves nothing optional running under a signal that is the latest, under any rule', () => {
    expect(wrong(/^signal(?:_after_\w+)?$/, ({ permitted, asked }) => !permitted && !asked)).toEqual([]);
  });

  test('lets a choice count that is made while the signal is on', () => {
    expect(wrong(/^accept_during_signal$/, ({ permitted }) => permitted)).toEqual([]);
    expect(wrong(/^refuse_during_signal$/, ({ permitted }) => !permitted)).toEqual([]);
  });

  test('ends what ran without a choice where consent is needed, and asks', () => {
    const here = optional.filter((key) => cellOf(table, key).rule === 'opt_in');
    const isEnded = ({ permitted, asked }: ReturnType<typeof cellOf>) => !permitted && asked;
    expect(wrong(/^from_opt_out_no_choice$/, isEnded, here)).toEqual([]);
    expect(wrong(/^from_\w+_object$/, isEnded, here)).toEqual([]);
  });

  test('permits nothing by a consent whose period is over', () => {
    const consented = optional.filter(
      (key) => cellOf(table, { ...key, event: 'accept' }).recorded === 'consent' && key.event !== 'accept',
    );
    expect(wrong(/^period_over_after_accept$/, ({ permitted }) => !permitted, consented)).toEqual([]);
  });

  test('never turns a no into permission', () => {
    expect(wrong(/^(?:refuse|object|withdraw)$|_(?:refuse|object)$/, ({ permitted }) => !permitted)).toEqual([]);
  });

  test('runs nothing before a choice, unless the rule in force says so', () => {
    expect(wrong(/^no_choice$/, ({ rule, permitted }) => permitted === (rule !== 'opt_in'))).toEqual([]);
  });

  test('records an act only where its law knows it', () => {
    const isKnown = ({ rule, recorded }: ReturnType<typeof cellOf>, { place }: Key) =>
      recorded.startsWith('do_not_sell_opt_out')
        ? place === 'us_signal' || (place === 'us_law' && rule === 'opt_out')
        : !recorded.startsWith('objection') || rule === 'exempt';
    expect(wrong(/./, isKnown)).toEqual([]);
    expect(wrong(/^(?:from|new|period)_|^signal_off/, ({ recorded }) => recorded === 'none')).toEqual([]);
  });
});

describe('the states of the table', () => {
  const { states, places } = table;
  const codes = (some: typeof states) => some.map(({ code }) => `US-${code}`).join(' ');

  test('are twelve with the duty to heed a signal, and the places of the rules', () => {
    const withDuty = states.filter(({ signalSince }) => signalSince !== null);
    expect(withDuty).toHaveLength(12);
    expect(places.us_signal?.members).toBe(codes(withDuty));
    expect(places.us_law?.members).toBe(
      codes(states.filter(({ code, signalSince }) => signalSince === null && code !== 'FL')),
    );
    const late = states.filter(
      ({ inForceSince, signalSince }) =>
        inForceSince > table.asOf || (signalSince !== null && signalSince > table.asOf),
    );
    expect(late).toEqual([]);
  });

  test.each(states)('$name has the section of IAB’s library', ({ gpp: { section, id, statesSignal } }) => {
    expect(Sections.SECTION_ID_NAME_MAP.get(id)).toBe(section);
    const model = new GppModel();
    const state = () => model.setFieldValue(section, 'Gpc', true);
    if (statesSignal) state();
    else expect(state).toThrow();
    model.setFieldValue(section, 'SaleOptOut', 1);
    expect(new GppModel(model.encode()).getFieldValue(section, 'SaleOptOut')).toBe(1);
  });

  test('are those of docs/law.md, with the same dates and sections', () => {
    const rows = readFileSync('docs/law.md', 'utf8').matchAll(
      /^\| ([A-Z]{2}) \| [^|]+ \| ([\d-]+) \| ([\d-]+|no duty) \| `(\w+)` (\d+)[^|]*\| (?:allowed|refused) \|/gm,
    );
    expect([...rows].map((row) => row.slice(1, 6).join(' '))).toEqual(
      states.map(
        ({ code, inForceSince, signalSince, gpp }) =>
          `${code} ${inForceSince} ${signalSince ?? 'no duty'} ${gpp.section} ${gpp.id}`,
      ),
    );
  });
});
