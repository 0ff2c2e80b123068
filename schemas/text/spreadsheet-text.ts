/** Characters after which a spreadsheet may begin a cell, whatever the file's own separator is. */
const SEPARATORS: ReadonlySet<string> = new Set([';', '\t', '|', '\r', '\n']);
/** The signs of a formula. East Asian versions of spreadsheets take the full-width ones for the others. */
const SIGNS: ReadonlySet<string> = new Set(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
/** A spreadsheet passes over white space before a formula, and takes quotation marks for those of the cell. */
const PASSED_OVER = /[\s"']/;

/**
 * A text of a stranger for a cell of a CSV file, with an apostrophe wherever a spreadsheet would
 * evaluate what follows as a formula: before a sign at the start of the text or of what a spreadsheet
 * may take for a cell of its own (after `;`, tab, `|`, CR or LF), and before a tab or line break that
 * begins the text. Commas and spaces separate nothing, because the cells are quoted.
 * Its time is linear in the length of the text. Source: OWASP, CSV Injection.
 */
export function spreadsheetText(text: string): string {
  let safe = /^[\t\r\n]/.test(text) ? "'" : '';
  let isStart = true;
  for (const character of text) {
    if (isStart && SIGNS.has(character)) safe += "'";
    isStart = SEPARATORS.has(character) || (isStart && PASSED_OVER.test(character));
    safe += character;
  }
  return safe;
}
