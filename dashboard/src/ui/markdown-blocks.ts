import { withoutTrailing } from '../../../schemas/text/without-trailing.js';

/** A part of a line: text, or text with a meaning. */
export type Inline =
  | { readonly kind: 'text' | 'code'; readonly text: string }
  | { readonly kind: 'strong' | 'emphasis'; readonly children: readonly Inline[] }
  | { readonly kind: 'link'; readonly href: string; readonly children: readonly Inline[] };

/** A block of a text in Markdown. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly children: readonly Inline[] }
  | { readonly kind: 'paragraph' | 'quote'; readonly children: readonly Inline[] }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly items: readonly (readonly Inline[])[] }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'line' };

const HEADING = /^(#{1,6})\s(.*)$/s;
const ITEM = /^\s{0,3}(?:[-*+]|(\d{1,9})[.)])\s(.*)$/s;
const LINE = /^\s{0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
const FENCE = /^\s{0,3}```/;
const QUOTE = /^\s{0,3}>\s?/;

/**
 * Reads the blocks of a text in Markdown: headings, paragraphs, lists, quotations, code and lines. What it
 * does not know, such as HTML and tables, stays text.
 */
export function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  let at = 0;
  const takeWhile = (belongs: (line: string) => boolean): readonly string[] => {
    const first = at;
    while (at < lines.length && belongs(lines[at] ?? '')) at += 1;
    return lines.slice(first, at);
  };
  while (at < lines.length) {
    const line = lines[at] ?? '';
    const heading = HEADING.exec(line);
    const item = ITEM.exec(line);
    if (line.trim() === '') {
      at += 1;
    } else if (FENCE.test(line)) {
      at += 1;
      blocks.push({ kind: 'code', text: takeWhile((one) => !FENCE.test(one)).join('\n') });
      at += 1;
    } else if (heading !== null) {
      at += 1;
      blocks.push({ kind: 'heading', level: heading[1]?.length ?? 1, children: inlinesOf(titleIn(heading[2] ?? '')) });
    } else if (LINE.test(line)) {
      at += 1;
      blocks.push({ kind: 'line' });
    } else if (QUOTE.test(line)) {
      const quoted = takeWhile((one) => QUOTE.test(one)).map((one) => one.replace(QUOTE, ''));
      blocks.push({ kind: 'quote', children: inlinesOf(quoted.join(' ')) });
    } else if (item !== null) {
      const own = takeWhile((next) => next.trim() !== '' && !isOtherBlock(next));
      blocks.push({
        kind: 'list',
        isOrdered: item[1] !== undefined,
        items: itemsOf(own).map((item) => inlinesOf(item)),
      });
    } else {
      const paragraph = takeWhile((one) => one.trim() !== '' && !isOtherBlock(one) && ITEM.exec(one) === null);
      blocks.push({ kind: 'paragraph', children: inlinesOf(paragraph.map((one) => one.trim()).join(' ')) });
    }
  }
  return blocks;
}

/** The items of the lines of a list; a line without a mark continues the item before it. */
function itemsOf(lines: readonly string[]): readonly string[] {
  const items: string[] = [];
  for (const line of lines) {
    const item = ITEM.exec(line);
    if (item === null) items.push(`${items.pop() ?? ''} ${line.trim()}`);
    else items.push((item[2] ?? '').trimStart());
  }
  return items;
}

function isOtherBlock(line: string): boolean {
  return HEADING.test(line) || FENCE.test(line) || QUOTE.test(line) || LINE.test(line);
}

/** The title of a heading, without the `#` that may close it. */
function titleIn(text: string): string {
  return withoutTrailing(text, '#').trim();
}

/** Links with other schemes could run code. */
const SAFE = /^(?:https?:|mailto:)/i;

/**
 * Reads code, links, strong and emphasised text, in this order of precedence at one place. Each mark is searched for
 * once, however many unclosed marks precede it, because an author's text must not freeze the tab of everyone who opens
 * it.
 */
function inlinesOf(text: string, depth = 0): readonly Inline[] {
  if (depth > MAX_DEPTH) return [{ kind: 'text', text }];
  const marks = marksOf(text);
  const inlines: Inline[] = [];
  let plainFrom = 0;
  for (let at = 0; at < text.length; ) {
    const found = MARK.has(text[at] ?? '') ? inlineAt({ text, marks, depth }, at) : null;
    if (found === null) {
      at += 1;
    } else {
      if (at > plainFrom) inlines.push({ kind: 'text', text: text.slice(plainFrom, at) });
      inlines.push(found.inline);
      at = found.end;
      plainFrom = at;
    }
  }
  return plainFrom === text.length ? inlines : [...inlines, { kind: 'text', text: text.slice(plainFrom) }];
}

/** Characters with which a part begins that is not plain text. */
const MARK: ReadonlySet<string> = new Set(['`', '[', '*', '_']);

/** The next place of a mark at or after a position, in a text that is read from left to right; −1 if there is none. */
type NextPlace = (from: number) => number;

/** Limit of nesting. Each level reads its text again, and stars alone could be nested 500,000 times. */
const MAX_DEPTH = 6;

interface Marks {
  readonly backtick: NextPlace;
  readonly bracket: NextPlace;
  readonly addressEnd: NextPlace;
  readonly strongEnd: NextPlace;
  readonly underlineEnd: NextPlace;
  readonly star: NextPlace;
}

function marksOf(text: string): Marks {
  const next = (pattern: RegExp): NextPlace => {
    const places = text.matchAll(pattern);
    let place = places.next();
    return (from) => {
      while (place.done !== true && place.value.index < from) place = places.next();
      return place.done === true ? -1 : place.value.index;
    };
  };
  return {
    backtick: next(/`/g),
    bracket: next(/\]/g),
    addressEnd: next(/[\s)]/g),
    // The last two of several stars.
    strongEnd: next(/\*(?=\*(?!\*))/g),
    underlineEnd: next(/_(?=_)/g),
    star: next(/\*/g),
  };
}

/** A text that is read, with its marks, and the number of parts around it. */
interface Reading {
  readonly text: string;
  readonly marks: Marks;
  readonly depth: number;
}

/** A part of a line, and the position after it. */
interface Found {
  readonly inline: Inline;
  readonly end: number;
}

function inlineAt(reading: Reading, at: number): Found | null {
  const { text, marks } = reading;
  switch (text[at]) {
    case '`':
      return codeAt(reading, at);
    case '[':
      return linkAt(reading, at);
    case '*':
      return text[at + 1] === '*' ? strongAt(reading, at, marks.strongEnd) : emphasisAt(reading, at);
    default:
      return text[at + 1] === '_' ? strongAt(reading, at, marks.underlineEnd) : null;
  }
}

function codeAt({ text, marks }: Reading, at: number): Found | null {
  const end = marks.backtick(at + 1);
  return end <= at + 1 ? null : { inline: { kind: 'code', text: text.slice(at + 1, end) }, end: end + 1 };
}

function linkAt({ text, marks, depth }: Reading, at: number): Found | null {
  const labelEnd = marks.bracket(at + 1);
  if (labelEnd <= at + 1 || text[labelEnd + 1] !== '(') return null;
  const end = marks.addressEnd(labelEnd + 2);
  if (end <= labelEnd + 2 || text[end] !== ')') return null;
  const href = text.slice(labelEnd + 2, end);
  const inline: Inline = SAFE.test(href)
    ? { kind: 'link', href, children: inlinesOf(text.slice(at + 1, labelEnd), depth + 1) }
    : { kind: 'text', text: text.slice(at, end + 1) };
  return { inline, end: end + 1 };
}

function strongAt({ text, depth }: Reading, at: number, nextEnd: NextPlace): Found | null {
  const end = nextEnd(at + 3);
  if (end < 0) return null;
  return { inline: { kind: 'strong', children: inlinesOf(text.slice(at + 2, end), depth + 1) }, end: end + 2 };
}

function emphasisAt({ text, marks, depth }: Reading, at: number): Found | null {
  const end = marks.star(at + 1);
  if (end <= at + 1 || /\s/.test(text[at + 1] ?? '') || /\s/.test(text[end - 1] ?? '')) return null;
  return { inline: { kind: 'emphasis', children: inlinesOf(text.slice(at + 1, end), depth + 1) }, end: end + 1 };
}
