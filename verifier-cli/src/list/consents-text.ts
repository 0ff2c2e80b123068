import { counted } from '../../../schemas/text/counted.js';
import { secondText } from '../report/page-parts.js';
import { printable } from '../report/printable.js';
import { verdictMark } from '../report/wording.js';
import { afterwardsText, personText, titleText } from './consent-words.js';
import type { ConsentListing, ListedConsent } from './listed-consent.js';

/** Characters of a cell; longer ones are cut. */
const MAX_CELL = 40;
const HEAD = ['', 'claimed time', 'existed by', 'decision', 'type', 'text', 'person', 'afterwards', 'consent token'];

/**
 * Consents as a table for a terminal, in the order of the ledger.
 * @param shown those of the listing that were asked for
 * @param isDevelopment whether a development authority stamped the ledger: no mark says “valid” then
 */
export function consentsText(shown: readonly ListedConsent[], listing: ConsentListing, isDevelopment: boolean): string {
  const rows = shown.map((one) => cells(one, isDevelopment));
  const widths = HEAD.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => [...(row[column] ?? '')].length)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - [...cell].length))
      .join('  ')
      .trimEnd();
  return [
    ...(rows.length === 0 ? ['No consent of the package matches.'] : [HEAD, ...rows].map(line)),
    '',
    `${counted(shown.length, 'consent')} of ${listing.count} in the package.${restText(listing)}`,
    '',
  ].join('\n');
}

/** What a list leaves out, in words; empty: nothing. */
export function restText({ consents, count }: ConsentListing): string {
  if (consents.length === count) return '';
  return ` Only the first ${consents.length} were listed: export fewer records to list all of them.`;
}

function cells(one: ListedConsent, isDevelopment: boolean): readonly string[] {
  return [
    verdictMark(one.verdict, isDevelopment),
    one.recorded_at === null ? 'unreadable' : secondText(one.recorded_at),
    one.existed_by === null ? 'not proved' : secondText(one.existed_by),
    one.decision ?? '',
    one.consent_type ?? '',
    titleText(one),
    personText(one) ?? 'not disclosed',
    afterwardsText(one) ?? '',
    one.consent_token,
  ].map((text) => {
    const characters = [...printable(text)];
    return characters.length > MAX_CELL ? `${characters.slice(0, MAX_CELL - 1).join('')}…` : characters.join('');
  });
}
