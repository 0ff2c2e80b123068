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

/** Characters that reorder or break the text around them, and controls that a terminal obeys which prints a file. */
const REORDERING = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A text as a reader of its language saw it, such as that of a drawn banner: only what would change the place of
 * other words is written as an escape. Joiners and marks of direction stay, because scripts need them.
 */
export function inPlace(text: string): string {
  return text.replace(REORDERING, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  );
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** JSON in ASCII alone, so that nothing in it can act on a terminal. */
export function asciiJson(value: unknown): string {
  const json = JSON.stringify(value, null, 2);
  return json.replace(/[^\n -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
