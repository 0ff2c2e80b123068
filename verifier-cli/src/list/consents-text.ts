import type { Texts } from '../i18n/texts.js';
import { printable } from '../rendering/printable.js';
import { secondText } from '../rendering/times-text.js';
import { verdictMark } from '../rendering/wording.js';
import { afterwardsText, claimedTimeOf, decisionText, personValues, titleText } from './consent-words.js';
import type { ConsentListing, ListedConsent } from './listed-consent.js';

/** Maximum number of characters in a cell; longer texts are cut. */
const MAX_CELL = 40;

/**
 * Consents as a table for a terminal, in the order of the ledger.
 * @param shown the consents of the listing to show
 * @param isDevelopment whether a development authority stamped the ledger; then no mark says “valid”
 */
export function consentsText(
  shown: readonly ListedConsent[],
  listing: ConsentListing,
  isDevelopment: boolean,
  texts: Texts,
): string {
  const { list } = texts;
  const { columns } = list;
  const head = [
    ...['', columns.claimedTime, columns.existedBy, columns.decision, columns.type, columns.text],
    ...[columns.person, columns.afterwards, columns.token],
  ];
  const rows = shown.map((one) => cells(one, isDevelopment, texts));
  const widths = head.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => [...(row[column] ?? '')].length)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - [...cell].length))
      .join('  ')
      .trimEnd();
  return [
    ...(rows.length === 0 ? [list.noMatch] : [head, ...rows].map(line)),
    '',
    ...(shown.some(({ scope }) => scope === 'account') ? [list.accountNote, ''] : []),
    [list.shownOf(shown.length, listing.count), restText(listing, texts)].join(' ').trimEnd(),
    '',
  ].join('\n');
}

/** Says that a list leaves consents out. Empty if the list is complete. */
export function restText({ consents, count }: ConsentListing, { list }: Texts): string {
  return consents.length === count ? '' : list.onlyFirst(consents.length);
}

function cells(one: ListedConsent, isDevelopment: boolean, texts: Texts): readonly string[] {
  const { list, words } = texts;
  const claimed = claimedTimeOf(one);
  return [
    verdictMark(one.verdict, isDevelopment),
    claimed === null ? list.unreadable : secondText(claimed),
    one.existed_by === null ? words.notProved : secondText(one.existed_by),
    decisionText(one, texts),
    one.consent_type ?? '',
    titleText(one, texts),
    personValues(one).slice(0, 2).join(', ') || list.notDisclosed,
    afterwardsText(one, texts) ?? '',
    one.consent_token,
  ].map((text) => {
    const characters = [...printable(text)];
    return characters.length > MAX_CELL ? `${characters.slice(0, MAX_CELL - 1).join('')}…` : characters.join('');
  });
}
