import { expect, it } from 'vitest';
import { audit as en } from '../../dashboard/src/i18n/en/audit.js';
import { en as english } from '../../dashboard/src/i18n/en/index.js';
import { audit as tr } from '../../dashboard/src/i18n/tr/audit.js';
import { tr as turkish } from '../../dashboard/src/i18n/tr/index.js';
import { factsOf } from '../../dashboard/src/pages/audit/entry-details.js';
import { NO_FILTERS, queryOf } from '../../dashboard/src/pages/audit/filters.js';
import { csvOf } from '../../dashboard/src/ui/csv.js';
import { identifierIn } from '../../schemas/text/identifier-in.js';

it('translates the words of the reader into actions and kinds of the API', () => {
  const { words } = queryOf({ ...NO_FILTERS, words: ' SILME  anna@shop.example' }, tr, 'tr');
  // In Turkish, the small letter of I has no dot: "SILME" is another word than "Silme".
  expect(words?.[0]).toEqual({ text: 'SILME', actions: [], kinds: [] });
  expect(words?.[1]).toEqual({ text: 'anna@shop.example', actions: [], kinds: [] });
  expect(queryOf({ ...NO_FILTERS, words: 'SİLME' }, tr, 'tr').words?.[0]).toMatchObject({ kinds: ['erasure'] });
  expect(queryOf({ ...NO_FILTERS, words: 'signed' }, en, 'en').words).toEqual([
    { text: 'signed', actions: ['sign_in.start', 'tenant.sign_up'], kinds: [] },
  ]);
  expect(queryOf({ ...NO_FILTERS, words: 'a b c d e f g h i j' }, en, 'en').words).toHaveLength(8);
});

it('shows the reason first, then changes with their values before and after', () => {
  const details = {
    site_id: 'x',
    enabled: { before: true, after: false },
    allowed_ips: { before: [], after: ['192.0.2.0/24', '::1/128'] },
    number: null,
    reason: 'a complaint',
  };
  expect(factsOf({ details }, english)).toEqual([
    { name: 'reason', kind: 'value', text: 'a complaint' },
    { name: 'enabled', kind: 'change', before: 'Yes', after: 'No' },
    { name: 'allowed_ips', kind: 'change', before: 'nothing', after: '192.0.2.0/24, ::1/128' },
    { name: 'number', kind: 'value', text: 'nothing' },
  ]);
});

it('names what was changed and by what a person was searched for, in the language of the reader', () => {
  const details = { by: 'visitor_id', changed: ['controller', 'default_language'], fields: ['visitor_id'] };
  const texts = (messages: typeof english) =>
    factsOf({ details }, messages).map((fact) => (fact.kind === 'value' ? fact.text : ''));
  expect(texts(english)).toEqual(['Visitor reference', 'Controller, Default language', 'Visitor reference']);
  expect(texts(turkish)).toEqual(['Ziyaretçi kimliği', 'Veri sorumlusu, Varsayılan dil', 'Ziyaretçi kimliği']);
  expect(factsOf({ details: { changed: true } }, turkish)).toEqual([]);
});

it('writes CSV in which no cell is a formula', () => {
  expect(csvOf([['a "b", c', '=1+1', '-2', '@x', '\t=3', 'line\n+4']])).toBe(
    `\ufeff"a ""b"", c","'=1+1","'-2","'@x","'\t'=3","line\n'+4"\r\n`,
  );
});

it.each([
  ['ct_0123456789abcdef0123456789abcdef', 'token'],
  [' „CT_0123456789ABCDEF0123456789ABCDEF“.', 'token'],
  ['ct_test_0123456789abcdef0123456789abcdef', 'token'],
  [`${'0a'.repeat(16)}\n${'0a'.repeat(16)}`, 'hash'],
  ['(01A22E0F-E6C7-7966-8377-49379F5BF4FA)', 'id'],
  ['ct_0123', null],
  ['visitor-1', null],
  ['anna@shop.example', null],
  ['0'.repeat(63), null],
  ['', null],
])('reads %j as %s', (text, by) => {
  expect(identifierIn(text)?.by ?? null).toBe(by);
});
