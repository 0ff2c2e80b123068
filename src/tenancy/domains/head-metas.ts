/** A start tag: its name and attributes, of which the first of a name counts. */
interface StartTag {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  /** Position after the tag. */
  readonly end: number;
}

/** Elements whose start tag leaves a page in its head. Every other element begins the body (HTML §13.2.6.4.4). */
const IN_HEAD: ReadonlySet<string> = new Set([
  'html',
  'head',
  'base',
  'basefont',
  'bgsound',
  'link',
  'meta',
  'title',
  'style',
  'script',
]);
/** Elements whose content is text until their end tag (HTML §13.2.5.2 to §13.2.5.4). */
const OF_TEXT: ReadonlySet<string> = new Set(['title', 'style', 'script']);

const SPACE = /[\t\n\f\r ]/;
const NAME_START = /[A-Za-z]/;

/**
 * Returns the contents of the `meta` elements of a name in the head of a page.
 *
 * Whoever may write a comment on a page must not prove its domain. This reader therefore follows the tokenizer of HTML,
 * and stops where the head ends or where it would have to guess: at text, at an element of the body, at `template` and
 * `noscript`, at a script that contains a comment, at a token that is not closed, and in a page with characters that
 * belong to an encoding which hides tags. It then misses an element, and never takes one that a browser would not.
 * @param html the page, one character for each byte
 * @param name the value of the attribute `name`, exactly
 */
export function headMetas(html: string, name: string): readonly string[] {
  // Control characters of UTF-16 and ISO-2022-JP, in which the bytes of other letters look like tags.
  if (html.includes('\0') || html.includes('\u001b')) return [];
  const contents: string[] = [];
  for (const tag of headTags(html)) {
    const content = tag.attributes.get('content');
    if (tag.name === 'meta' && tag.attributes.get('name') === name && content !== undefined) contents.push(content);
  }
  return contents;
}

/** Yields the start tags of the head. */
function* headTags(html: string): Generator<StartTag> {
  let at: number | null = afterSpace(html, html.startsWith('\u00ef\u00bb\u00bf') ? 3 : 0);
  while (at !== null && html.charAt(at) === '<') {
    if (/[!?/]/.test(html.charAt(at + 1))) at = endOfOther(html, at);
    else {
      const tag = startTagAt(html, at);
      if (tag === null || !IN_HEAD.has(tag.name)) return;
      yield tag;
      at = OF_TEXT.has(tag.name) ? endOfText(html, tag) : tag.end;
    }
    if (at !== null) at = afterSpace(html, at);
  }
}

function afterSpace(html: string, from: number): number {
  let at = from;
  while (at < html.length && SPACE.test(html.charAt(at))) at += 1;
  return at;
}

/** Returns where a comment, a declaration or an end tag ends; null if it does not, or ends the head. */
function endOfOther(html: string, at: number): number | null {
  if (html.startsWith('<!--', at)) return endOfComment(html, at + 4);
  // An end tag ends where its attributes do, so that a quoted `>` is a part of it.
  if (html.charAt(at + 1) === '/' && NAME_START.test(html.charAt(at + 2))) {
    const tag = startTagAt(html, at + 1);
    return tag === null || ['head', 'body', 'html', 'br', 'template'].includes(tag.name) ? null : tag.end;
  }
  const end = html.indexOf('>', at);
  return end === -1 ? null : end + 1;
}

/** Returns where a comment ends, as browsers see it: `<!-->` and `<!--->` are whole, and `--!>` is an end too. */
function endOfComment(html: string, from: number): number | null {
  const short = /^-?>/.exec(html.slice(from, from + 2));
  if (short !== null) return from + short[0].length;
  const end = /--!?>/g;
  end.lastIndex = from;
  return end.exec(html) === null ? null : end.lastIndex;
}

/** Returns where the text of an element ends; null if it does not, or if a script may have an escaped end. */
function endOfText(html: string, { name, end: from }: StartTag): number | null {
  let at = html.indexOf('</', from);
  while (at !== -1 && !endsElement(html, at, name)) at = html.indexOf('</', at + 2);
  if (at === -1 || (name === 'script' && html.slice(from, at).includes('<!--'))) return null;
  return startTagAt(html, at + 1)?.end ?? null;
}

/** Whether an end tag is that of an element: its name must end there, so that `</titles>` does not end a title. */
function endsElement(html: string, at: number, name: string): boolean {
  const after = html.slice(at + 2, at + 3 + name.length).toLowerCase();
  return after.startsWith(name) && /[\t\n\f\r />]/.test(after.slice(name.length));
}

/**
 * Reads a tag (HTML §13.2.5.8 and §13.2.5.32 to §13.2.5.40).
 * @param at position before its name: of `<`, or of the slash of an end tag
 * @returns null if it is no tag, or is not closed
 */
function startTagAt(html: string, at: number): StartTag | null {
  let place = at + 1;
  const take = (isPart: (character: string) => boolean): string => {
    const from = place;
    while (place < html.length && isPart(html.charAt(place))) place += 1;
    return html.slice(from, place);
  };
  const skipSpace = (): unknown => take((character) => SPACE.test(character));
  if (!NAME_START.test(html.charAt(place))) return null;
  const name = take((character) => !SPACE.test(character) && character !== '/' && character !== '>').toLowerCase();
  const attributes = new Map<string, string>();
  for (;;) {
    take((character) => SPACE.test(character) || character === '/');
    if (place >= html.length) return null;
    if (html.charAt(place) === '>') return { name, attributes, end: place + 1 };
    const first = html.charAt(place);
    place += 1;
    const rest = take((character) => !SPACE.test(character) && !'/>='.includes(character));
    const attribute = `${first}${rest}`.toLowerCase();
    skipSpace();
    let value = '';
    if (html.charAt(place) === '=') {
      place += 1;
      skipSpace();
      const quote = html.charAt(place);
      if (quote === '"' || quote === "'") {
        const end = html.indexOf(quote, place + 1);
        if (end === -1) return null;
        value = html.slice(place + 1, end);
        place = end + 1;
      } else value = take((character) => !SPACE.test(character) && character !== '>');
    }
    if (!attributes.has(attribute)) attributes.set(attribute, value);
  }
}
