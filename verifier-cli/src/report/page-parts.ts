import type { Outcome } from '../findings/check-table.js';
import type { Problem } from '../findings/findings.js';
import { element, type Markup } from './markup.js';
import { printable, printableSource } from './printable.js';
import type { ReportedTime } from './report.js';
import { OUTCOME_WORDS, type VerdictWording } from './wording.js';

/** A text from the package, isolated so that it cannot reorder the text next to it. */
export function foreign(text: string): Markup {
  return element('bdi', {}, printable(text));
}

/**
 * The exact source of a text that others chose.
 * @param mediaType a plain text is set as prose, and any other as code
 */
export function sourceBlock(text: string, mediaType: string | null): Markup {
  const isProse = mediaType === 'text/plain' || mediaType === 'text/markdown';
  return element('pre', { dir: 'auto', ...(isProse && { class: 'prose' }) }, printableSource(text));
}

/**
 * The verdict with the time as of which it holds.
 * @param asOf the newest valid stamp over the package's checkpoint
 * @param statement what the verdict says of the records; null: nothing
 */
export function verdictBanner(
  { word, mark, sentence, style }: VerdictWording,
  asOf: ReportedTime | null,
  statement: string | null = null,
): Markup {
  return element(
    'section',
    { class: `verdict ${style}` },
    element('span', { class: 'sign', 'aria-hidden': 'true' }, mark),
    element(
      'p',
      {},
      element('strong', {}, word),
      ...(statement === null ? [] : [element('span', { class: 'statement' }, statement)]),
      element(
        'span',
        {},
        `${sentence} State of the ledger: ${asOf === null ? 'at an unproved time' : dayText(asOf.time)}.`,
      ),
    ),
  );
}

const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
];

/** `2026-11-22T01:53:07.000Z` as `22 November 2026, 01:53 UTC`; other texts as they are, made printable. */
export function dayText(time: string): string {
  const [, year, month, day, clock] = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}:\d{2})/.exec(time) ?? [];
  const name = MONTHS[Number(month) - 1];
  return name === undefined ? printable(time) : `${Number(day)} ${name} ${year}, ${clock} UTC`;
}

/** The time as of which a verdict holds, in words. */
export function asOfText(asOf: ReportedTime | null): string {
  return asOf === null ? 'as of an unproved time' : `as of ${momentText(asOf.time)}`;
}

export function section(title: string, ...children: readonly Markup[]): Markup {
  return element('section', {}, element('h2', {}, title), ...children);
}

export function list(items: readonly (string | Markup)[]): Markup {
  return element('ul', {}, ...items.map((item) => element('li', {}, item)));
}

/** A list of names and values. Entries whose value is null are left out. */
export function facts(entries: readonly (readonly [string, Markup | readonly Markup[] | null])[]): Markup {
  const shown = entries.flatMap(([name, value]) =>
    value === null
      ? []
      : [
          element('dt', {}, name),
          element('dd', {}, ...(typeof value === 'object' && 'length' in value ? value : [value])),
        ],
  );
  return element('dl', {}, ...shown);
}

export function outcomeMark(outcome: Outcome): Markup {
  const { mark, word, style } = OUTCOME_WORDS[outcome];
  return element('span', { class: `mark ${style}` }, element('span', { 'aria-hidden': 'true' }, `${mark} `), word);
}

/** A proved time, to be read by people: date and time apart, the zone written out. */
export function timeText({ time, accuracy_ms: accuracy }: ReportedTime): string {
  return `${momentText(time)}${accuracy === 0 ? '' : ` (± ${accuracy} ms)`}`;
}

/**
 * `2026-03-01T10:09:00.000Z` as `2026-03-01 10:09:00.000 UTC`; other texts as they are, made
 * printable.
 */
export function momentText(time: string): string {
  const [, day, clock] = /^(\d{4}-\d{2}-\d{2})T([\d:.]+)Z$/.exec(time) ?? [];
  return day === undefined || clock === undefined ? printable(time) : `${day} ${clock} UTC`;
}

/** As `momentText`, without fractions of a second: for tables. */
export function secondText(time: string): string {
  return momentText(time.replace(/\.\d+Z$/, 'Z'));
}

/** The place of a problem, as a prefix of its message. */
export function placeText(place: Omit<Problem, 'message' | 'outcome'>): string {
  const parts = [
    place.file === undefined ? null : printable(place.file),
    place.line === undefined ? null : `line ${place.line}`,
    place.stream === undefined ? null : `${printable(place.stream)} revision ${place.revision}`,
    place.event_id === undefined ? null : `record ${printable(place.event_id)}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? '' : `${parts.join(', ')}: `;
}
