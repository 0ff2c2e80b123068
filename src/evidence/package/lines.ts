import { utf8 } from '../../../schemas/crypto/encoding.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';

const CHUNK_CHARACTERS = 256 * 1024;
/** Lines that are collected before they are encoded. */
const PAGE = 100;

/** Encodes lines as NDJSON, in chunks of about 256 Ki characters. */
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
  let text = '';
  for (const line of lines) {
    text += `${JSON.stringify(line)}\n`;
    if (text.length < CHUNK_CHARACTERS) continue;
    yield utf8(text);
    text = '';
  }
  if (text !== '') yield utf8(text);
}

/** Encodes pages of lines as NDJSON. Awaiting each of a million lines would be too slow. */
export async function* ndjsonPages(pages: AsyncIterable<readonly JsonValue[]>): AsyncGenerator<Uint8Array, void> {
  for await (const page of pages) yield* ndjsonAtHand(page);
}
