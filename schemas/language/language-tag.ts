/**
 * Reads a language tag (RFC 5646) as pages, browsers and systems write it: in any case, with underscores, with
 * extensions, or with other text after it (`tr_TR.UTF-8`). It drops everything from the first unreadable subtag on, and
 * extended language subtags (`zh-cmn-Hans`).
 * @returns the tag in canonical form, or undefined if it names no language that the engine knows, as `x-default`, `und`
 * and `english` do not
 */
export function localeOf(text: string): Intl.Locale | undefined {
  const subtags = hyphenated(text)
    .replace(/[^\w-].*/s, '')
    .replace(/^(\w{2,3})(-[a-z]{3}(?!\w))+/i, '$1')
    .split('-');
  for (; subtags.length > 0; subtags.pop()) {
    try {
      const locale = new Intl.Locale(subtags.join('-'));
      // Likely subtags are only known for registered languages (UTS #35).
      return !locale.baseName.startsWith('und') && locale.maximize().script ? locale : undefined;
    } catch {
      // The last part is not a subtag.
    }
  }
  return undefined;
}

/** A tag with hyphens between its subtags. */
export function hyphenated(text: string): string {
  return text.trim().slice(0, MAX_LENGTH).replace(/[-_]+/g, '-');
}

/** Longer than any tag without extensions (RFC 5646 §4.4.1). It limits the work for a text that is not a tag. */
const MAX_LENGTH = 64;

/** Whether a text is a language tag as a whole (UTS #35 §3), including tags with underscores. */
export function isWellFormed(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text.trim().replaceAll('_', '-')).length === 1;
  } catch {
    return false;
  }
}

/** Whether two texts are the same tag, in any case, including tags with underscores. */
export function isSameTag(one: string, other: string): boolean {
  return hyphenated(one).toLowerCase() === hyphenated(other).toLowerCase();
}
