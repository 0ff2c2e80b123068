import { ClientTokenFields } from '../../../schemas/api/verify.js';
import { decodeUtf8, fromBase64, fromBase64url } from '../../../schemas/crypto/encoding.js';
import { eventIdOfTestToken } from '../../../schemas/events/consent-recorded.js';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';
import { parseStrictJson, StrictJsonError } from '../../../schemas/json/strict-json.js';
import { withoutTrailing } from '../../../schemas/text/without-trailing.js';

const MAX_DEPTH = 4;
const NAMES = Object.keys(ClientTokenFields.shape);

/**
 * Reads a value of the SDK's cookie `_svc_consent`: a JSON object, as it is, percent-encoded, or in
 * base64 or base64url; or the token of a test record alone. Only fields that say nothing of a person are
 * used, each only if it is valid.
 * @returns null if the value is no such token
 */
export function readClientToken(value: string): ClientTokenFields | null {
  if (eventIdOfTestToken(value) !== null) return { consent_token: value };
  for (const text of candidates(value)) {
    const json = parseObject(text);
    if (json !== null) return knownFields(json);
  }
  return null;
}

function candidates(value: string): readonly string[] {
  const decoded = percentDecoded(value) ?? value;
  const bytes = fromBase64url(withoutTrailing(decoded, '=')) ?? fromBase64(decoded);
  const text = bytes === null ? null : decodeUtf8(bytes);
  return text === null ? [decoded] : [decoded, text, percentDecoded(text) ?? text];
}

function percentDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function parseObject(text: string): JsonObject | null {
  if (!text.startsWith('{')) return null;
  try {
    const value: JsonValue = parseStrictJson(text, MAX_DEPTH);
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch (error) {
    if (error instanceof StrictJsonError) return null;
    throw error;
  }
}

/** The categories as the cookie has them: keys, with `!` before those that were refused. */
function readAnswers(text: string): JsonObject {
  const keys = text.split('.').filter((key) => key !== '');
  return Object.fromEntries(keys.map((key) => [key.replace(/^!/, ''), !key.startsWith('!')]));
}

function knownFields(json: JsonObject): ClientTokenFields {
  const given: JsonObject = { ...json };
  if (given.consent_token === undefined && given.token !== undefined) given.consent_token = given.token;
  if (typeof given.categories === 'string') given.categories = readAnswers(given.categories);
  const kept = Object.fromEntries(NAMES.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]));
  const parsed = ClientTokenFields.safeParse(kept);
  if (parsed.success) return parsed.data;
  const wrong = new Set(parsed.error.issues.map(({ path }) => path[0]));
  return ClientTokenFields.parse(Object.fromEntries(Object.entries(kept).filter(([name]) => !wrong.has(name))));
}
