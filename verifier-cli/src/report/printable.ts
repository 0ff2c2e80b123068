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

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** JSON in ASCII alone, so that nothing in it can act on a terminal. */
export function asciiJson(value: unknown): string {
  const json = JSON.stringify(value, null, 2);
  return json.replace(/[^\n -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
