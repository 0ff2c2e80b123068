import { counted } from '../../../schemas/text/counted.js';
import { element, type Markup } from '../report/markup.js';
import { foreign, secondText } from '../report/page-parts.js';
import { printable } from '../report/printable.js';
import { verdictMark } from '../report/wording.js';
import { afterwardsText, personText, titleText } from './consent-words.js';
import type { ListedConsent } from './listed-consent.js';

const HEAD = ['Verdict', 'Claimed time', 'Decision', 'Person', 'Text', 'Afterwards'];

/**
 * Consents as a table of a page.
 * @param shown in the order of the rows
 * @param total consents of which these are a part
 * @param isDevelopment whether a development authority stamped the ledger: no verdict is green then
 */
export function consentsTable(shown: readonly ListedConsent[], total: number, isDevelopment: boolean): Markup {
  const caption =
    shown.length === total ? counted(total, 'record') : `The first ${shown.length} of ${counted(total, 'record')}`;
  return element(
    'table',
    { class: 'records' },
    element('caption', {}, caption),
    element('thead', {}, element('tr', {}, ...HEAD.map((name) => element('th', { scope: 'col' }, name)))),
    element('tbody', {}, ...shown.map((one) => row(one, isDevelopment))),
  );
}

function row(one: ListedConsent, isDevelopment: boolean): Markup {
  const style = { valid: isDevelopment ? 'open' : 'pass', indeterminate: 'open', invalid: 'fail' }[one.verdict];
  const mark = element(
    'span',
    { class: `mark ${style}` },
    element('span', { 'aria-hidden': 'true' }, `${verdictMark(one.verdict, isDevelopment)} `),
    one.verdict,
  );
  const person = personText(one);
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, mark),
    element(
      'td',
      {},
      one.recorded_at === null ? 'unreadable' : secondText(one.recorded_at),
      ...(one.existed_by === null ? [] : [element('p', { class: 'id' }, `existed by ${secondText(one.existed_by)}`)]),
    ),
    element(
      'td',
      {},
      element('strong', {}, printable(one.decision ?? 'unknown')),
      element('p', { class: 'id' }, foreign(one.consent_type ?? 'unknown')),
    ),
    element('td', {}, person === null ? 'not disclosed' : foreign(person)),
    element('td', {}, foreign(titleText(one)), element('p', {}, element('code', { class: 'id' }, one.consent_token))),
    element('td', {}, afterwardsText(one) ?? ''),
  );
}
