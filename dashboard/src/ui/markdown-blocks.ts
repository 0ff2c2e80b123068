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

const HEADING = /^(#{1,6})\s+(.*?)\s*#*$/;
const ITEM = /^\s{0,3}(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;
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
      blocks.push({ kind: 'heading', level: heading[1]?.length ?? 1, children: inlinesOf(heading[2] ?? '') });
    } else if (LINE.test(line)) {
      at += 1;
      blocks.push({ kind: 'line' });
    } else if (QUOTE.test(line)) {
      const quoted = takeWhile((one) => QUOTE.test(one)).map((one) => one.replace(QUOTE, ''));
      blocks.push({ kind: 'quote', children: inlinesOf(quoted.join(' ')) });
    } else if (item !== null) {
      const own = takeWhile((next) => next.trim() !== '' && !isOtherBlock(next));
      blocks.push({ kind: 'list', isOrdered: item[1] !== undefined, items: itemsOf(own).map(inlinesOf) });
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
    else items.push(item[2] ?? '');
  }
  return items;
}

function isOtherBlock(line: string): boolean {
  return HEADING.test(line) || FENCE.test(line) || QUOTE.test(line) || LINE.test(line);
}

/** Code, links, strong and emphasised text, in this order of precedence. */
const INLINE = /`([^`]+)`|\[([^\]]+)\]\(([^\s)]+)\)|\*\*(.+?)\*\*(?!\*)|__(.+?)__|\*([^*\s](?:[^*]*[^*\s])?)\*/;
/** Other addresses could run something. */
const SAFE = /^(?:https?:|mailto:)/i;

function inlinesOf(text: string): readonly Inline[] {
  const inlines: Inline[] = [];
  let rest = text;
  for (let found = INLINE.exec(rest); found !== null; found = INLINE.exec(rest)) {
    if (found.index > 0) inlines.push({ kind: 'text', text: rest.slice(0, found.index) });
    inlines.push(inlineOf(found));
    rest = rest.slice(found.index + found[0].length);
  }
  return rest === '' ? inlines : [...inlines, { kind: 'text', text: rest }];
}

function inlineOf([whole, code, label, href, strong, strongToo, emphasis]: RegExpExecArray): Inline {
  if (code !== undefined) return { kind: 'code', text: code };
  if (label !== undefined && href !== undefined)
    return SAFE.test(href) ? { kind: 'link', href, children: inlinesOf(label) } : { kind: 'text', text: whole };
  const important = strong ?? strongToo;
  if (important !== undefined) return { kind: 'strong', children: inlinesOf(important) };
  return { kind: 'emphasis', children: inlinesOf(emphasis ?? '') };
}
