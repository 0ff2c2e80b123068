import type { JsonValue } from '../../../schemas/json/json-value.js';

const CHUNK_BYTES = 256 * 1024;
/** UTF-8 bytes of a UTF-16 code unit, at most. */
const MAX_BYTES = 3;
/** Lines that are collected before they are encoded. */
const PAGE = 100;
/** The same for lines that wait for their file. */
const WAITING_PAGE = 2_000;

/** Encodes lines as NDJSON, in chunks of about 256 KiB. */
export async function* ndjson(lines: Iterable<JsonValue> | AsyncIterable<JsonValue>): AsyncGenerator<Uint8Array, void> {
  let page: JsonValue[] = [];
  for await (const line of lines) {
    page.push(line);
    if (page.length < PAGE) continue;
    yield* ndjsonAtHand(page);
    page = [];
  }
  yield* ndjsonAtHand(page);
}

/** Encodes lines that are in memory as NDJSON. */
export function* ndjsonAtHand(lines: Iterable<JsonValue>): Generator<Uint8Array, void> {
  const texts = function* (): Generator<string, void> {
    for (const line of lines) yield `${JSON.stringify(line)}\n`;
  };
  yield* encodedLines(texts());
}

/** Encodes pages of lines that are JSON already. Awaiting each of a million lines would be too slow. */
export async function* encodedPages(pages: AsyncIterable<readonly string[]>): AsyncGenerator<Uint8Array, void> {
  for await (const page of pages) yield* encodedLines(page);
}

/**
 * Encodes lines that end with a line feed each. They are written into the chunk one by one: joining
 * them to a text, and encoding it, takes three times as long.
 */
function* encodedLines(lines: Iterable<string>): Generator<Uint8Array, void> {
  let chunk = Buffer.allocUnsafeSlow(0);
  let used = 0;
  for (const line of lines) {
    const most = line.length * MAX_BYTES;
    if (used + most > chunk.length) {
      if (used > 0) yield chunk.subarray(0, used);
      chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, most));
      used = 0;
    }
    used += chunk.write(line, used);
  }
  if (used > 0) yield chunk.subarray(0, used);
}

/** Lines that wait for their file as bytes, which need less memory than objects. */
export class EncodedLines {
  readonly #chunks: Uint8Array[] = [];
  #page: string[] = [];
  #bytes = 0;

  add(line: JsonValue): void {
    this.#page.push(`${JSON.stringify(line)}\n`);
    if (this.#page.length >= WAITING_PAGE) this.#encode();
  }

  /** Encodes what was added since. @returns all bytes in order, and their number */
  encoded(): { readonly chunks: readonly Uint8Array[]; readonly bytes: number } {
    this.#encode();
    return { chunks: this.#chunks, bytes: this.#bytes };
  }

  #encode(): void {
    if (this.#page.length === 0) return;
    const chunk = Buffer.from(this.#page.join(''));
    this.#page = [];
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
  }
}
