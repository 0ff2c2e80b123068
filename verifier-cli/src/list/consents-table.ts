import type { JsonValue } from '../../../schemas/json/json-value.js';
import { cutText } from '../findings/finding.js';
import type { Texts } from '../i18n/texts.js';
import { element, type Markup } from '../rendering/markup.js';
import { facts, foreign, recordMark } from '../rendering/page-parts.js';
import { printable } from '../rendering/printable.js';
import { secondText } from '../rendering/times-text.js';
import { afterwardsText, claimedTimeOf, decisionText, personValues, titleText } from './consent-words.js';
import type { ListedConsent } from './listed-consent.js';

/**
 * Consents as a table of a page, each in one row, with details that the reader opens.
 * @param shown the results in the order of the rows
 * @param total total number of consents, including those that are not shown
 * @param isDevelopment whether a development authority stamped the ledger; then no verdict is green
 */
export function consentsTable(
  shown: readonly ListedConsent[],
  total: number,
  isDevelopment: boolean,
  texts: Texts,
): Markup {
  const { list } = texts;
  const caption = shown.length === total ? list.records(total) : list.firstRecords(shown.length, total);
  const head = [
    ...[list.verdict, list.claimedTime, list.provedTime, list.decision, list.person, list.text],
    list.afterwards,
  ];
  return element(
    'table',
    { class: 'records' },
    element('caption', {}, caption),
    element('thead', {}, element('tr', {}, ...head.map((name) => element('th', { scope: 'col' }, name)))),
    element('tbody', {}, ...shown.map((one) => row(one, isDevelopment, texts))),
  );
}

function row(one: ListedConsent, isDevelopment: boolean, texts: Texts): Markup {
  const { list, words } = texts;
  // The details have the other values, so that each record takes one row.
  const [person] = personValues(one);
  const claimed = claimedTimeOf(one);
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, recordMark(one.verdict, isDevelopment, texts)),
    element('td', {}, claimed === null ? list.unreadable : clockText(claimed)),
    element('td', {}, one.existed_by === null ? words.notProved : clockText(one.existed_by)),
    element('td', {}, foreign(decisionText(one, texts))),
    element('td', {}, person === undefined ? list.notDisclosed : foreign(person)),
    element('td', {}, details(one, texts)),
    element('td', {}, afterwardsText(one, texts) ?? ''),
  );
}

/** A time without its zone, which the column heading states. */
function clockText(time: string): string {
  return secondText(time).replace(/ UTC$/, '');
}

function details(one: ListedConsent, texts: Texts): Markup {
  const { list, record, words } = texts;
  const names = list.details;
  const code = (value: string | null): Markup | null => (value === null ? null : element('code', {}, foreign(value)));
  const disclosed = Object.entries(one.disclosed).map(([name, value]): readonly [string, Markup] => [
    printable(name),
    foreign(valueText(value)),
  ]);
  return element(
    'details',
    {},
    element('summary', {}, foreign(titleText(one, texts))),
    facts([
      [names.token, code(one.consent_token)],
      [names.event, code(one.event_id)],
      [names.type, foreign(one.consent_type ?? words.unknown)],
      [record.scope, one.scope === 'account' ? record.ofAccount(null) : null],
      [names.language, one.language === null ? null : foreign(one.language)],
      [names.version, code(one.document_version_id)],
      [names.successor, code(one.superseded_by?.event_id ?? null)],
      ...disclosed,
    ]),
  );
}

function valueText(value: JsonValue): string {
  return cutText(typeof value === 'string' ? value : JSON.stringify(value));
}
