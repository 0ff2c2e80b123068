import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { CsvError, parse as csvParser } from 'csv-parse';
import * as z from 'zod';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';
import { parseStrictInput, StrictJsonError } from '../../../schemas/json/strict-json.js';
import type { FileFormat, Mapping } from './mapping.js';

/** Largest row, in bytes. */
export const MAX_ROW_BYTES = 1_048_576;
/** Maximum number of columns of a CSV file. */
const MAX_COLUMNS = 1_000;

/** A row of a file with its number, from 1. The header line of a CSV file does not count. */
export interface SourceRow {
  readonly row: number;
  /** Null if the row cannot be read. */
  readonly values: JsonObject | null;
  /** Why the row cannot be read, without any of its content. */
  readonly problem: string | null;
}

/** The rest of a file cannot be read. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}

const Names = z.array(z.string());
const CsvRecord = z.object({ record: z.array(z.string()), info: z.object({ records: z.int() }) });
/** Where csv-parse found an error. */
const Place = z.object({ records: z.int(), lines: z.int() });
const QUOTE_ERRORS: ReadonlySet<string> = new Set(['CSV_INVALID_CLOSING_QUOTE', 'INVALID_OPENING_QUOTE']);

/**
 * Reads the rows of a file of any size one after the other.
 * @param onBytes receives each piece of the file, in order
 * @param columns the columns that a CSV file must have
 * @throws UnreadableFile; errors of the file system
 */
export async function* readRows(
  path: string,
  { format, delimiter }: Pick<Mapping, 'format' | 'delimiter'>,
  onBytes: (piece: Uint8Array) => void,
  columns: readonly string[] = [],
): AsyncGenerator<SourceRow, void> {
  const source = createReadStream(path);
  source.on('data', (piece) => {
    if (typeof piece !== 'string') onBytes(piece);
  });
  try {
    yield* format === 'csv' ? csvRows(source, delimiter, columns) : jsonRows(source, format);
  } finally {
    source.destroy();
  }
}

async function* csvRows(
  source: Readable,
  delimiter: string,
  columns: readonly string[],
): AsyncGenerator<SourceRow, void> {
  /** Rows that cannot be read, each with its line and the number of records before it. */
  const damaged: { readonly after: number; readonly line: number }[] = [];
  const parser = csvParser({
    bom: true,
    info: true,
    // A misplaced quotation mark, as PHP's fputcsv writes them, only makes its own row unreadable.
    skip_records_with_error: true,
    on_skip: (error) => {
      if (error === undefined || !QUOTE_ERRORS.has(error.code)) return void parser.destroy(error);
      const { records: after, lines: line } = Place.parse(error);
      // The rest of a damaged row is not quoted, so its further errors are on the same line.
      if (damaged.at(-1)?.line !== line) damaged.push({ after, line });
    },
    delimiter,
    max_record_size: MAX_ROW_BYTES,
    // Each row states its own number of cells, so that one wrong row does not end the file.
    relax_column_count: true,
    skip_empty_lines: true,
  });
  const checked = Readable.from(utf8Only(source));
  checked.on('error', (error) => parser.destroy(error));
  checked.pipe(parser);
  let names: readonly string[] | null = null;
  let row = 0;
  const damagedBefore = function* (records: number): Generator<SourceRow, void> {
    while ((damaged[0]?.after ?? Number.POSITIVE_INFINITY) < records) {
      damaged.shift();
      row += 1;
      yield {
        row,
        values: null,
        problem: 'has a quotation mark in the wrong place: CSV doubles it (""), and has no \\"',
      };
    }
  };
  try {
    for await (const found of parser) {
      const { record: cells, info } = CsvRecord.parse(found);
      if (names === null) {
        if (damaged[0]?.after === 0) throw new UnreadableFile('The line with the names of the columns cannot be read.');
        names = namesOf(cells, delimiter, columns);
        continue;
      }
      yield* damagedBefore(info.records);
      row += 1;
      yield csvRow(row, names, cells);
    }
    yield* damagedBefore(Number.POSITIVE_INFINITY);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new UnreadableFile(`The file is not CSV after row ${row} (${error.code}).`);
  }
  if (names === null) throw new UnreadableFile('The file has no line with the names of its columns.');
}

/**
 * Refuses bytes that are not UTF-8. Replacing them would turn two people whose ids differ only in such a letter into
 * one.
 */
async function* utf8Only(source: Readable): AsyncGenerator<Uint8Array, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const piece of source) {
      if (!(piece instanceof Uint8Array)) throw new Error('a file stream has texts');
      decoder.decode(piece, { stream: true });
      yield piece;
    }
    decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UnreadableFile('The file is not UTF-8. Convert it first, for example with iconv.');
  }
}

function namesOf(cells: readonly string[], delimiter: string, columns: readonly string[]): readonly string[] {
  const named = Names.parse(cells).map((name) => name.trim());
  if (/^sep=/i.test(named[0] ?? ''))
    throw new UnreadableFile(
      'The first line is “sep=…”, which only Excel reads. Remove that line, and give its character as `delimiter` in the mapping.',
    );
  // Excel also writes emptied columns at the end, which have neither names nor values.
  const names = named.slice(0, named.findLastIndex((name) => name !== '') + 1);
  if (names.length === 1 && columns.length > 1 && /[;\t|]/.test(names[0] ?? ''))
    throw new UnreadableFile(
      `The first line has no “${delimiter}”. Give the character between its names as \`delimiter\` in the mapping.`,
    );
  if (names.length > MAX_COLUMNS) throw new UnreadableFile(`The file has more than ${MAX_COLUMNS} columns.`);
  const repeated = names.findIndex((name, place) => names.indexOf(name) !== place);
  // The message does not repeat the name, because in a file without a header line it is a personal value.
  if (repeated !== -1)
    throw new UnreadableFile(
      `The columns ${names.indexOf(names[repeated] ?? '') + 1} and ${repeated + 1} have the same name in the first line of the file.`,
    );
  const present = new Set(names);
  const missing = columns.filter((column) => !present.has(column));
  if (missing.length > 0)
    throw new UnreadableFile(
      `The file has no column ${missing.map((column) => `“${column}”`).join(', ')}, which the mapping names. Correct the mapping: its members replace those of the preset.`,
    );
  return names;
}

function csvRow(row: number, names: readonly string[], all: readonly string[]): SourceRow {
  const cells = all.slice(names.length).every((cell) => cell.trim() === '') ? all.slice(0, names.length) : all;
  if (cells.length !== names.length)
    return { row, values: null, problem: `has ${cells.length} cells, and the file has ${names.length} columns` };
  const values: JsonObject = Object.fromEntries(names.map((name, place) => [name, cells[place] ?? '']));
  return { row, values, problem: null };
}

async function* jsonRows(source: Readable, format: FileFormat): AsyncGenerator<SourceRow, void> {
  const splitter = format === 'json' ? new ArraySplitter() : new LineSplitter();
  let row = 0;
  const take = function* (texts: Iterable<Buffer>): Generator<SourceRow, void> {
    for (const text of texts) {
      row += 1;
      yield jsonRow(row, text);
    }
  };
  for await (const piece of source) yield* take(splitter.push(piece));
  yield* take(splitter.end());
}

function jsonRow(row: number, text: Buffer): SourceRow {
  try {
    const values: JsonValue = parseStrictInput(text);
    if (typeof values === 'object' && values !== null && !Array.isArray(values)) return { row, values, problem: null };
    return { row, values: null, problem: 'is not a JSON object' };
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    return { row, values: null, problem: `is not strict JSON (${error.problem})` };
  }
}

const LF = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, LF, 0x0d]);
const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Collects the bytes of one row over the pieces of a file. */
class RowBytes {
  #pieces: Buffer[] = [];
  #length = 0;

  /** @throws UnreadableFile */
  add(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > MAX_ROW_BYTES) throw new UnreadableFile(`A row has more than ${MAX_ROW_BYTES} bytes.`);
    this.#pieces.push(piece);
  }

  take(): Buffer {
    const row = this.#pieces.length === 1 ? (this.#pieces[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#length = 0;
    return row;
  }
}

/** Splits JSON lines. An empty line is not a row. */
class LineSplitter {
  readonly #row = new RowBytes();
  #isFirst = true;

  *push(piece: Buffer): Generator<Buffer, void> {
    let start = 0;
    for (let end = piece.indexOf(LF); end !== -1; end = piece.indexOf(LF, start)) {
      this.#row.add(piece.subarray(start, end));
      start = end + 1;
      yield* this.#taken();
    }
    if (start < piece.length) this.#row.add(piece.subarray(start));
  }

  *end(): Generator<Buffer, void> {
    yield* this.#taken();
  }

  *#taken(): Generator<Buffer, void> {
    const bytes = this.#row.take();
    const row = this.#isFirst && bytes.subarray(0, MARK.length).equals(MARK) ? bytes.subarray(MARK.length) : bytes;
    this.#isFirst = false;
    if (row.some((byte) => !SPACES.has(byte))) yield row;
  }
}

/**
 * Splits one array of JSON into its elements. It looks only for their ends: each element is parsed
 * strictly afterwards.
 */
class ArraySplitter {
  readonly #row = new RowBytes();
  #state: 'before' | 'inside' | 'after' = 'before';
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  #hasContent = false;
  #seen = 0;

  *push(piece: Buffer): Generator<Buffer, void> {
    let start = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at] ?? 0;
      if (this.#state !== 'inside') {
        this.#outside(byte);
        start = at + 1;
        continue;
      }
      if (!this.#endsAt(byte)) continue;
      this.#row.add(piece.subarray(start, at));
      start = at + 1;
      yield* this.#element(byte);
    }
    if (this.#state === 'inside' && start < piece.length) this.#row.add(piece.subarray(start));
  }

  end(): readonly Buffer[] {
    if (this.#state !== 'after') throw new UnreadableFile('The file is not one complete array of JSON.');
    return [];
  }

  #outside(byte: number): void {
    this.#seen += 1;
    const isMark = this.#state === 'before' && this.#seen <= MARK.length && byte === MARK[this.#seen - 1];
    if (this.#state === 'before' && byte === OPEN_ARRAY) this.#state = 'inside';
    else if (byte === OPEN_OBJECT && this.#state === 'before')
      throw new UnreadableFile(
        'The file is not one array of JSON: it begins with an object. If the rows are in a member of it, write that array into a file of its own, for example with jq .data; if each line is an object, the format is jsonl.',
      );
    else if (!SPACES.has(byte) && !isMark) throw new UnreadableFile('The file is not one array of JSON.');
  }

  /** Whether the byte ends an element of the outer array. */
  #endsAt(byte: number): boolean {
    if (this.#isText) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) this.#isText = false;
      return false;
    }
    if (this.#depth === 0 && (byte === COMMA || byte === CLOSE_ARRAY)) return true;
    if (!SPACES.has(byte)) this.#hasContent = true;
    if (byte === QUOTE) this.#isText = true;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) this.#depth += 1;
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) this.#depth = Math.max(0, this.#depth - 1);
    return false;
  }

  *#element(end: number): Generator<Buffer, void> {
    const element = this.#row.take();
    if (end === CLOSE_ARRAY) this.#state = 'after';
    // An empty array has no element.
    if (this.#hasContent || end === COMMA) yield element;
    this.#hasContent = false;
  }
}
