import type { Texts } from '../i18n/texts.js';
import { element, type Markup } from '../report/markup.js';
import { foreign, recordMark } from '../report/page-parts.js';
import { secondText } from '../report/times-text.js';
import { decisionWord } from '../report/wording.js';
import { afterwardsText, personText, titleText } from './consent-words.js';
import type { ListedConsent } from './listed-consent.js';

/**
 * Consents as a table of a page.
 * @param shown in the order of the rows
 * @param total consents of which these are a part
 * @param isDevelopment whether a development authority stamped the ledger: no verdict is green then
 */
export function consentsTable(
  shown: readonly ListedConsent[],
  total: number,
  isDevelopment: boolean,
  texts: Texts,
): Markup {
  const { list } = texts;
  const caption = shown.length === total ? list.records(total) : list.firstRecords(shown.length, total);
  const head = [list.verdict, list.claimedTime, list.decision, list.person, list.text, list.afterwards];
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
  const mark = recordMark(one.verdict, isDevelopment, texts);
  const person = personText(one);
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, mark),
    element(
      'td',
      {},
      one.recorded_at === null ? list.unreadable : secondText(one.recorded_at),
      ...(one.existed_by === null ? [] : [element('p', { class: 'id' }, list.existedBy(secondText(one.existed_by)))]),
    ),
    element(
      'td',
      {},
      element('strong', {}, decisionWord(one.decision, texts)),
      element('p', { class: 'id' }, foreign(one.consent_type ?? words.unknown)),
    ),
    element('td', {}, person === null ? list.notDisclosed : foreign(person)),
    element(
      'td',
      {},
      foreign(titleText(one, texts)),
      element('p', {}, element('code', { class: 'id' }, one.consent_token)),
    ),
    element('td', {}, afterwardsText(one, texts) ?? ''),
  );
}
