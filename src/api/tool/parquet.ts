import { setImmediate } from 'node:timers/promises';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import * as z from 'zod';
import { Instant } from '../../../schemas/evidence/primitives.js';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';

/** Type of a column. A time is in milliseconds, UTC. Everything that has no other type is text. */
export type ParquetType = 'text' | 'flag' | 'number' | 'time';

export interface ParquetColumn {
  readonly name: string;
  readonly type: ParquetType;
}

/** Returns the type of the column for values of a schema. */
export function parquetType(field: z.core.$ZodType): ParquetType {
  // `.describe()` returns a copy of a schema that names the original as its parent.
  if (field === Instant || field._zod.parent === Instant) return 'time';
  if (field instanceof z.ZodNullable || field instanceof z.ZodOptional || field instanceof z.ZodNonOptional)
    return parquetType(field.unwrap());
  if (field instanceof z.ZodBoolean) return 'flag';
  const isNumber = field instanceof z.ZodLiteral ? typeof field.value === 'number' : field instanceof z.ZodNumber;
  return isNumber ? 'number' : 'text';
}

type Element = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number];

const ELEMENTS: Readonly<Record<ParquetType, Omit<Element, 'name'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  flag: { type: 'BOOLEAN' },
  number: { type: 'DOUBLE' },
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
};

/**
 * Limits of a row group: rows, and characters in their texts. A group is encoded in one step, while other requests
 * wait.
 */
const MAX_ROWS = 1_000;
const MAX_CHARACTERS = 4_000_000;
/**
 * Limit of row groups in a file. The index of the file lists all of them, is held in memory, and is encoded in one
 * step.
 */
const MAX_GROUPS = 20;

/** A buffer that keeps what was written until it is taken, while offsets in the file continue. */
class Pieces extends ByteWriter {
  take(): Uint8Array {
    const piece = this.getBytes().slice();
    this.index = 0;
    return piece;
  }
}

/**
 * Yields the pieces of a Parquet file, one for each row group. Every column may be null; objects and lists are JSON. A
 * file without its last piece cannot be read. If the rows need more than `MAX_GROUPS` groups, the file ends early.
 * @param rows values by column; others are left out
 * @param createdBy program that writes the file
 */
export async function* parquetFile(
  columns: readonly ParquetColumn[],
  rows: AsyncIterable<JsonObject>,
  createdBy: string,
): AsyncGenerator<Uint8Array, void> {
  const pieces = new Pieces();
  const file = new ParquetWriter({
    writer: pieces,
    schema: [
      { name: 'schema', num_children: columns.length },
      ...columns.map(({ name, type }): Element => ({ name, repetition_type: 'OPTIONAL', ...ELEMENTS[type] })),
    ],
    createdBy,
  });
  const group = new RowGroup(columns);
  let groups = 0;
  for await (const row of rows) {
    group.add(row);
    if (!group.isFull) continue;
    await file.write(group.take());
    yield pieces.take();
    groups += 1;
    if (groups >= MAX_GROUPS) break;
    // If the rows are already in memory, group would follow group without a chance for other requests.
    await setImmediate();
  }
  const isWithoutRows = group.isEmpty && groups === 0;
  if (!group.isEmpty) await file.write(group.take());
  await file.finish();
  yield isWithoutRows ? withTypedList(pieces.take()) : pieces.take();
}

/**
 * Part of the index of an empty file: no rows (field 3, 64 bits), and an empty list of row groups (field 4) without the
 * type of its elements.
 */
const NO_ROWS = Buffer.from([0x16, 0x00, 0x19, 0x00]);
/** The type of the elements of a list of structures, in Thrift's compact protocol. */
const STRUCT = 0x0c;

/**
 * Adds the type of the elements to the empty list of row groups of a file without rows. The writer omits it, and
 * arrow-rs refuses such a file.
 */
function withTypedList(file: Uint8Array): Uint8Array {
  const at = Buffer.from(file.buffer, file.byteOffset, file.length).lastIndexOf(NO_ROWS);
  if (at === -1) throw new Error('the index of a file without rows has no empty list of row groups');
  file[at + NO_ROWS.length - 1] = STRUCT;
  return file;
}

type Cell = string | number | boolean | Date | null;

class RowGroup {
  #cells: Cell[][];
  #rows = 0;
  #characters = 0;

  constructor(private readonly columns: readonly ParquetColumn[]) {
    this.#cells = columns.map(() => []);
  }

  get isEmpty(): boolean {
    return this.#rows === 0;
  }

  get isFull(): boolean {
    return this.#rows >= MAX_ROWS || this.#characters >= MAX_CHARACTERS;
  }

  add(row: JsonObject): void {
    this.#rows += 1;
    for (const [place, { name, type }] of this.columns.entries()) {
      const cell = cellOf(row[name], type);
      this.#cells[place]?.push(cell);
      if (typeof cell === 'string') this.#characters += cell.length;
    }
  }

  take(): Parameters<ParquetWriter['write']>[0] {
    const columnData = this.columns.map(({ name, type }, place) => ({
      name,
      data: this.#cells[place] ?? [],
      // Minimum and maximum help searches by time. Statistics of other columns, or a page index for groups of one page,
      // would only make the index larger.
      statistics: type === 'time',
      offsetIndex: false,
    }));
    const rowGroupSize = this.#rows;
    this.#cells = this.columns.map(() => []);
    this.#rows = 0;
    this.#characters = 0;
    return { columnData, rowGroupSize };
  }
}

/** @throws TypeError for a value that the column cannot hold */
function cellOf(value: JsonValue | undefined, type: ParquetType): Cell {
  if (value === null || value === undefined) return null;
  if (type === 'text') return typeof value === 'string' ? value : JSON.stringify(value);
  if (type === 'time' && typeof value === 'string') return new Date(value);
  if (type === 'number' && typeof value === 'number') return value;
  if (type === 'flag' && typeof value === 'boolean') return value;
  throw new TypeError(`a column of type ${type} cannot hold a ${typeof value}`);
}
