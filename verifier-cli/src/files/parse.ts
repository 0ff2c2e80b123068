import type * as z from 'zod';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { schemaWords } from '../../../schemas/json/schema-words.js';
import {
  MAX_JSON_DEPTH,
  MAX_JSON_VALUES,
  parseStrictInput,
  StrictJsonError,
} from '../../../schemas/json/strict-json.js';
import { type Finding, finding } from '../findings/finding.js';

export type Parsed<T> =
  | { readonly ok: true; readonly value: T; readonly json: JsonValue }
  | { readonly ok: false; readonly reason: Finding };

/** Parses strict JSON of a known shape. Never throws, because every input may be hostile. */
export function parseShape<T>(
  schema: z.ZodType<T>,
  input: Uint8Array | string,
  maxValues: number = MAX_JSON_VALUES,
): Parsed<T> {
  let json: JsonValue;
  try {
    json = parseStrictInput(input, MAX_JSON_DEPTH, maxValues, 'shortest');
  } catch (error) {
    if (error instanceof StrictJsonError) return { ok: false, reason: jsonProblem(error, maxValues) };
    throw error;
  }
  return matchShape(schema, json);
}

/** Validates a parsed JSON value against a shape. */
export function matchShape<T>(schema: z.ZodType<T>, json: JsonValue): Parsed<T> {
  const result = schema.safeParse(json, { error: schemaWords });
  if (result.success) return { ok: true, value: result.data, json };
  const [issue] = result.error.issues;
  const message = issue?.message ?? 'unknown';
  const place = issue?.path.map(String).join('.') ?? '';
  const reason =
    place === '' ? finding('schema-differs', { message }) : finding('schema-differs-at', { place, message });
  return { ok: false, reason };
}

function jsonProblem({ problem }: StrictJsonError, maxValues: number): Finding {
  switch (problem) {
    case 'invalid-utf8':
      return finding('json-not-utf8');
    case 'syntax':
      return finding('json-syntax');
    case 'duplicate-key':
      return finding('json-name-twice');
    case 'too-deep':
      return finding('json-too-deep', { limit: MAX_JSON_DEPTH });
    case 'too-many-values':
      return finding('json-too-many-values', { limit: maxValues });
    case 'number-out-of-range':
      return finding('json-number-not-exact');
    case 'lone-surrogate':
      return finding('json-lone-surrogate');
    case 'null-character':
      return finding('json-null-character');
    case 'forbidden-name':
      return finding('json-name-forbidden');
  }
}
