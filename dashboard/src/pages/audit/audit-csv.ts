import { spreadsheetText } from '../../../../schemas/text/spreadsheet-text.js';

/** A CSV file of rows (RFC 4180), with a byte order mark for spreadsheets. No cell is read as a formula. */
export function csvOf(rows: readonly (readonly string[])[]): string {
  const cell = (text: string) => `"${spreadsheetText(text).replaceAll('"', '""')}"`;
  return `\ufeff${rows.map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`;
}
