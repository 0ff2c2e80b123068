import type { Outcome } from '../findings/checks.js';
import { englishDetail, type Stated } from '../findings/finding.js';
import type { Problem } from '../findings/findings.js';
import type { Verdict } from '../findings/verdict.js';
import type { Texts } from '../i18n/texts.js';
import { type Element, element, type Markup } from './markup.js';
import { printable, printableSource } from './printable.js';
import { dayText, type ReportedTime } from './times-text.js';
import { OUTCOME_MARKS, type VerdictWording, verdictMark } from './wording.js';

/** A text from the package, isolated so that it cannot reorder the text next to it. */
export function foreign(text: string): Markup {
  return element('bdi', {}, printable(text));
}

/**
 * Renders a finding of a check, without naming options of the command. A detail that only exists in English is marked
 * as such.
 */
export function finding(found: Stated, texts: Texts): Markup {
  const detail = englishDetail(found);
  if (detail === null || texts.language === 'en') return element('bdi', {}, printable(texts.finding(found, 'page')));
  const sentence = texts.finding({ ...found, values: { ...found.values, detail: '' } }, 'page');
  return element('span', {}, element('bdi', {}, printable(sentence.trimEnd())), ' ', english(detail, texts));
}

/** A text that only exists in English, even on a page in another language. */
export function english(text: string, { language }: Texts): Markup {
  return element('bdi', language === 'en' ? {} : { lang: 'en' }, printable(text));
}

/**
 * The exact source of a text that others chose.
 * @param mediaType a plain text is set as prose, and any other as code
 */
export function sourceBlock(text: string, mediaType: string | null): Markup {
  const isProse = mediaType === 'text/plain' || mediaType === 'text/markdown';
  return element('pre', { dir: 'auto', ...(isProse && { class: 'prose' }) }, printableSource(text));
}

/** Contents of a banner in addition to the verdict. */
interface BannerParts {
  /** The newest valid stamp over the package's checkpoint. */
  readonly asOf: ReportedTime | null;
  /** Meaning of the verdict for the records, or null if there is none. */
  readonly statement?: string | null;
  /** Keys and roots that the reader did not give, or null if nothing is missing. */
  readonly missing?: string | null;
  /** Whose records these are. */
  readonly persons?: readonly string[];
}

/** Builds the box at the top of a page: a sign, a word, and their explanation. */
export function banner(
  { style, mark }: { readonly style: string; readonly mark: string },
  word: string,
  ...lines: readonly Markup[]
): Markup {
  return element(
    'section',
    { class: `verdict ${style}` },
    element('span', { class: 'sign', 'aria-hidden': 'true' }, mark),
    element('p', {}, element('strong', {}, word), ...lines),
  );
}

/** Builds the banner that a reader must see first: the verdict, the time as of which it applies, and the person. */
export function verdictBanner(
  { word, mark, sentence, style }: VerdictWording,
  { asOf, statement = null, missing = null, persons = [] }: BannerParts,
  texts: Texts,
): Markup {
  const { words } = texts;
  const state = words.stateOfLedger(asOf === null ? words.atUnprovedTime : dayText(asOf.time, texts));
  return banner(
    { style, mark },
    word,
    element('span', { class: 'when' }, state),
    ...persons.map((line) => element('span', { class: 'who' }, foreign(line))),
    ...[missing, statement].flatMap((text) =>
      text === null ? [] : [element('span', { class: 'statement' }, printable(text))],
    ),
    element('span', {}, sentence),
  );
}

export function section(title: string, ...children: readonly Markup[]): Element {
  return element('section', {}, element('h2', {}, title), ...children);
}

/** A part that is shown once the reader opens it. */
export function details(summary: string, ...content: readonly Markup[]): Markup {
  return element('details', {}, element('summary', {}, summary), ...content);
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

export function outcomeMark(outcome: Outcome, { words }: Texts): Markup {
  const { mark, style } = OUTCOME_MARKS[outcome];
  return element(
    'span',
    { class: `mark ${style}` },
    element('span', { 'aria-hidden': 'true' }, `${mark} `),
    words.outcomes[outcome],
  );
}

/** The verdict on one record. A development stamp is never green. */
export function recordMark(verdict: Verdict, isDevelopment: boolean, { words }: Texts): Markup {
  const style = { valid: isDevelopment ? 'open' : 'pass', indeterminate: 'open', invalid: 'fail' }[verdict];
  return element(
    'span',
    { class: `mark ${style}` },
    element('span', { 'aria-hidden': 'true' }, `${verdictMark(verdict, isDevelopment)} `),
    words.recordVerdicts[verdict],
  );
}

/** The place of a problem, as a prefix of its message. */
export function placeText(place: Omit<Problem, 'message' | 'outcome'>, { words }: Texts): string {
  const parts = [
    place.file === undefined ? null : printable(place.file),
    place.line === undefined ? null : words.line(place.line),
    // The id of a record names its place too.
    place.stream === undefined || place.revision === undefined || place.event_id !== undefined
      ? null
      : words.revision(printable(place.stream), place.revision),
    place.event_id === undefined ? null : words.record(printable(place.event_id)),
  ].filter((part) => part !== null);
  return parts.length === 0 ? '' : `${parts.join(', ')}: `;
}
