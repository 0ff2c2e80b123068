import { utf8 } from '../../../schemas/crypto/encoding.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';

const CHUNK_CHARACTERS = 64 * 1024;
/** Lines gathered before they become bytes. */
const PAGE = 100;

/** Lines of an NDJSON file as bytes, in pieces of a size that is quick to handle. */
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

/** The same of lines that are all at hand. */
export function* ndjsonAtHand(lines: Iterable<JsonValue>): Generator<Uint8Array, void> {
  let text = '';
  for (const line of lines) {
    text += `${JSON.stringify(line)}\n`;
    if (text.length < CHUNK_CHARACTERS) continue;
    yield utf8(text);
    text = '';
  }
  if (text !== '') yield utf8(text);
}

/** The same of lines that come in pages: a million of them are too many to wait for one by one. */
export async function* ndjsonPages(pages: AsyncIterable<readonly JsonValue[]>): AsyncGenerator<Uint8Array, void> {
  for await (const page of pages) yield* ndjsonAtHand(page);
}
