import type { ExportedErasure, ExportQuery } from '../../../schemas/api/export.js';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';
import { localeOf } from '../../../schemas/language/language-tag.js';
import { spreadsheetText } from '../../../schemas/text/spreadsheet-text.js';

/** A record or an erasure, with its position in the order of the export. */
export interface Line {
  readonly content: JsonObject;
  /** The row of CSV and Parquet. */
  readonly cells: JsonObject;
  readonly revision: number;
}

/** The column for the time of an erasure. It is empty in rows of records. */
export const ERASED_AT = 'erased_at';

/** Returns the line of a record. It always includes the cursor, without which a client could not resume. */
export function lineOf(content: JsonObject, revision: number, { fields }: Pick<ExportQuery, 'fields'>): Line {
  const names = fields && new Set<string>([...fields, 'cursor']);
  const wanted = names ? Object.fromEntries(Object.entries(content).filter(([name]) => names.has(name))) : content;
  return { content: wanted, cells: wanted, revision };
}

export function lineOfErasure(content: ExportedErasure, revision: number): Line {
  const { erased_record, announced_at, cursor } = content;
  return { content, cells: { ...erased_record, [ERASED_AT]: announced_at, cursor }, revision };
}

/** Joins two sequences of lines by their revisions. */
export async function* inOrder(
  first: AsyncGenerator<Line, void>,
  second: AsyncGenerator<Line, void>,
): AsyncGenerator<Line, void> {
  try {
    let [a, b] = await Promise.all([first.next(), second.next()]);
    while (a.done !== true || b.done !== true) {
      if (b.done === true || (a.done !== true && a.value.revision < b.value.revision)) {
        if (a.done !== true) yield a.value;
        a = await first.next();
      } else {
        yield b.value;
        b = await second.next();
      }
    }
  } finally {
    await Promise.all([first.return(), second.return()]);
  }
}

/** The byte-order mark of a file, if it has one, and the separator of its cells. */
export interface CsvDialect {
  readonly mark: string;
  readonly separator: string;
}

/** The dialect of RFC 4180 for programs, which is the same everywhere. */
export const RFC_4180: CsvDialect = { mark: '', separator: ',' };

/**
 * Returns the dialect that Excel opens on a double click. Excel recognises UTF-8 only by a byte-order mark, and expects
 * semicolons between cells in languages that write decimals with a comma.
 * @param language a language tag (RFC 5646)
 */
export function excelDialect(language: string): CsvDialect {
  const [, decimal] = new Intl.NumberFormat(localeOf(language)).formatToParts(0.5);
  return { mark: '\uFEFF', separator: decimal?.value === ',' ? ';' : ',' };
}

/**
 * Formats a line of CSV (RFC 4180) that ends with CRLF. Null and absent values become empty cells; objects and lists
 * become JSON. An apostrophe precedes what a spreadsheet would evaluate.
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
