import type { z } from 'zod';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import {
  MAX_JSON_DEPTH,
  MAX_JSON_VALUES,
  parseStrictInput,
  StrictJsonError,
} from '../../../schemas/json/strict-json.js';

export type Parsed<T> =
  | { readonly ok: true; readonly value: T; readonly json: JsonValue }
  | { readonly ok: false; readonly reason: string };

/** Parses strict JSON of a known shape. Never throws: every input may be hostile. */
export function parseShape<T>(
  schema: z.ZodType<T>,
  input: Uint8Array | string,
  maxValues: number = MAX_JSON_VALUES,
): Parsed<T> {
  let json: JsonValue;
  try {
    json = parseStrictInput(input, MAX_JSON_DEPTH, maxValues);
  } catch (error) {
    if (error instanceof StrictJsonError) return { ok: false, reason: error.message };
    throw error;
  }
  return matchShape(schema, json);
}

/** Holds a parsed JSON value against a shape. */
export function matchShape<T>(schema: z.ZodType<T>, json: JsonValue): Parsed<T> {
  const result = schema.safeParse(json);
  if (result.success) return { ok: true, value: result.data, json };
  const [issue] = result.error.issues;
  const place = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.map(String).join('.')}: `;
  return { ok: false, reason: `does not match the published schema: ${place}${issue?.message ?? 'unknown'}` };
}
