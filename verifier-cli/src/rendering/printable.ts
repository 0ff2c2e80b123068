/** Characters that could move the cursor, or colour, hide or reorder the text next to them. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * A text from the package as it may be shown: characters that are not plainly visible are written
 * as an escape.
 */
export function printable(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/**
 * A longer text from the package: as `printable`, but its line feeds and tabs stay, so that it can
 * be read.
 */
export function printableSource(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(UNSAFE, (character) => (character === '\n' || character === '\t' ? character : escaped(character)));
}

/** Characters that reorder or break the text around them, and control characters that a terminal obeys. */
const REORDERING = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Returns a text as a reader of its language saw it, such as that of a drawn banner. Only what would move other words
 * is escaped. Joiners and direction marks stay, because some scripts need them.
 */
export function inPlace(text: string): string {
  return text.replace(REORDERING, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  );
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** Encodes JSON in ASCII only, so that nothing in it can control a terminal. */
export function asciiJson(value: unknown): string {
  const json = JSON.stringify(value, null, 2);
  return json.replace(/[^\n -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
