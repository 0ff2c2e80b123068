/** Characters after which a spreadsheet may begin a cell, regardless of the file's own separator. */
const SEPARATORS: ReadonlySet<string> = new Set([';', '\t', '|', '\r', '\n']);
/** The signs that start a formula. East Asian versions of spreadsheets also accept the full-width ones. */
const SIGNS: ReadonlySet<string> = new Set(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
/** A spreadsheet skips white space before a formula, and treats quotation marks as those of the cell. */
const PASSED_OVER = /[\s"']/;

/**
 * Makes an untrusted text safe for a cell of a CSV file. It puts an apostrophe wherever a spreadsheet would evaluate
 * what follows as a formula: before a sign at the start of the text, or at the start of what a spreadsheet may treat as
 * a separate cell (after `;`, tab, `|`, CR or LF), and before a tab or line break at the start of the text. Commas and
 * spaces do not separate cells, because the cells are quoted. Its time is linear in the length of the text. Source:
 * OWASP, CSV Injection.
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
