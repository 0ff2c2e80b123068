import type { JsonValue } from '../../../schemas/json/json-value.js';
import { localeOf } from '../../../schemas/language/language-tag.js';
import { spreadsheetText } from '../../../schemas/text/spreadsheet-text.js';

/** The byte-order mark of a file, if it has one, and the separator of its cells. */
export interface CsvDialect {
  readonly mark: string;
  readonly separator: string;
}

/** As RFC 4180 has it, for programs: the same everywhere. */
export const RFC_4180: CsvDialect = { mark: '', separator: ',' };

/**
 * As Excel opens it by a double click. Without a byte-order mark, Excel reads no UTF-8. It separates
 * cells at the semicolon where the comma begins the decimals of a number.
 * @param language a language tag (RFC 5646)
 */
export function excelDialect(language: string): CsvDialect {
  const [, decimal] = new Intl.NumberFormat(localeOf(language)).formatToParts(0.5);
  return { mark: '\uFEFF', separator: decimal?.value === ',' ? ';' : ',' };
}

/**
 * A line of CSV (RFC 4180), ended by CRLF. Null and absent values are empty cells; objects and lists
 * are JSON. What a spreadsheet would evaluate has an apostrophe in front of it.
 */
export function csvLine(values: readonly (JsonValue | undefined)[], { separator }: CsvDialect = RFC_4180): string {
  return `${values.map(cell).join(separator)}\r\n`;
}

function cell(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return quoted(spreadsheetText(typeof value === 'string' ? value : JSON.stringify(value)));
}

function quoted(text: string): string {
  return /[",;\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
