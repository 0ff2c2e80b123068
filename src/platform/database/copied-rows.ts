import type pg from 'pg';
import type { Queryable } from './pool.js';

/**
 * Runs a query and reads its rows in PostgreSQL's binary format (`COPY (…) TO STDOUT`, “Binary Format” of its manual).
 * `pg` reads every column of an ordinary query as text, in which a `bytea` is hexadecimal: twice as many bytes, which
 * the server encodes and the client decodes digit by digit.
 * @param query a query without parameters: the caller writes every value as a literal (`parameters.ts`)
 * @param read reads the columns of one row in order
 * @throws any error of the query; RangeError or Error for a row that `read` does not match
 */
export async function copiedRows<T>(db: Queryable, query: string, read: (row: CopiedRow) => T): Promise<T[]> {
  const copy = new CopyQuery(`copy (${query}) to stdout (format binary)`);
  // A pool returns a promise, which rejects if there is no connection; a connection returns the query itself.
  await db.query(copy);
  await copy.done;
  const rows: T[] = [];
  for (const message of copy.messages) {
    const row = rowIn(message);
    if (row === null) continue;
    rows.push(read(row));
    row.end();
  }
  return rows;
}

/** A row, whose columns are read from the first to the last. */
export class CopiedRow {
  #at: number;
  #left: number;

  /** @param at offset of the row, at its number of columns */
  constructor(
    private readonly bytes: Buffer,
    at: number,
  ) {
    this.#left = bytes.readInt16BE(at);
    this.#at = at + 2;
  }

  /** Reads a column that may be null. */
  orNull<T>(read: (row: this) => T): T | null {
    if (this.#left === 0 || this.bytes.readInt32BE(this.#at) !== NULL_LENGTH) return read(this);
    this.#left -= 1;
    this.#at += 4;
    return null;
  }

  int4(): number {
    return this.bytes.readInt32BE(this.#next(4));
  }

  /** @throws RangeError for a value that a JavaScript number cannot represent exactly */
  int8(): number {
    const start = this.#next(8);
    const value = this.bytes.readInt32BE(start) * TWO_TO_32 + this.bytes.readUInt32BE(start + 4);
    if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${value} is beyond the safe integers`);
    return value;
  }

  /** Returns a UUID with dashes, in lower case. */
  uuid(): string {
    const start = this.#next(16);
    const hex = this.bytes.toString('hex', start, start + 16);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }

  text(): string {
    const start = this.#next(null);
    return this.bytes.toString('utf8', start, this.#at);
  }

  bytea(): Uint8Array {
    const start = this.#next(null);
    return this.bytes.subarray(start, this.#at);
  }

  /** @throws Error if columns were not read */
  end(): void {
    if (this.#left !== 0) throw new Error(`${this.#left} columns of a copied row were not read`);
  }

  /** Skips to the end of the next column. @returns the offset of its bytes; they end at `#at` */
  #next(length: number | null): number {
    if (this.#left === 0) throw new Error('a copied row has fewer columns than are read');
    const found = this.bytes.readInt32BE(this.#at);
    if (found === NULL_LENGTH || (length !== null && found !== length))
      throw new Error(`a column of a copied row has ${found} bytes`);
    const start = this.#at + 4;
    this.#left -= 1;
    this.#at = start + found;
    return start;
  }
}

const NULL_LENGTH = -1;
const TWO_TO_32 = 4_294_967_296;
const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
/** Signature, flags, and the length of the extension. */
const HEADER_BYTES = SIGNATURE.length + 8;
const TRAILER = -1;

/**
 * Returns the row in a message of the server, which holds at most one.
 * @returns null for the header alone, and for the trailer
 */
function rowIn(message: Buffer): CopiedRow | null {
  const hasHeader = message.subarray(0, SIGNATURE.length).equals(SIGNATURE);
  const at = hasHeader ? HEADER_BYTES + message.readInt32BE(HEADER_BYTES - 4) : 0;
  return at >= message.length || message.readInt16BE(at) === TRAILER ? null : new CopiedRow(message, at);
}

/** A query as `pg` runs it (`Submittable`), which keeps the messages of its rows. */
class CopyQuery {
  readonly messages: Buffer[] = [];
  readonly done: Promise<void>;
  /**
   * Set by `pg`: its pool learns from this callback that the query ended, and uses it to end a query that takes too
   * long.
   */
  callback?: (error: Error | null) => void;
  #settle: (error: Error | null) => void = () => undefined;

  constructor(readonly text: string) {
    this.done = new Promise((resolve, reject) => {
      this.#settle = (error) => (error === null ? resolve() : reject(error));
    });
    // A pool reports the failure itself, and then nobody waits for this promise.
    this.done.catch(() => undefined);
  }

  submit(connection: pg.Connection): void {
    connection.query(this.text);
  }

  handleCopyData({ chunk }: { readonly chunk: Uint8Array }): void {
    // Copied, because the client reuses the memory of the message.
    this.messages.push(Buffer.from(chunk));
  }

  handleError(error: Error): void {
    this.#end(error);
  }

  handleReadyForQuery(): void {
    this.#end(null);
  }

  handleCommandComplete(): void {
    // `handleReadyForQuery` follows.
  }

  #end(error: Error | null): void {
    this.#settle(error);
    this.callback?.(error);
  }
}
