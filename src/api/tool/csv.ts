import type { JsonValue } from '../../../schemas/json/json-value.js';

/**
 * A spreadsheet would evaluate a cell that begins like this, and its text comes from visitors. East
 * Asian versions take the full-width signs for the others.
 */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/**
 * A line of CSV (RFC 4180), ended by CRLF. Null and absent values are empty cells; objects and lists
 * are JSON. A text that a spreadsheet would evaluate has an apostrophe in front of it.
 */
export function csvLine(values: readonly (JsonValue | undefined)[]): string {
  return `${values.map(cell).join(',')}\r\n`;
}

function cell(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return quoted(typeof value === 'object' ? JSON.stringify(value) : String(value));
  return quoted(FORMULA.test(value) ? `'${value}` : value);
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
