import { S2sConsentRequest } from '../../../schemas/api/consents.js';
import type { FieldError } from '../../../schemas/api/error-codes.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';

const NAMES = Object.keys(S2sConsentRequest.shape);
const KNOWN: ReadonlySet<string> = new Set(NAMES);
const MAX_WARNINGS = 10;
/** A body can have 100,000 unknown members, and each is compared with every known name. */
const MAX_COMPARED = 100;

/**
 * Finds members that are ignored because they are unknown, and are one edit away from a known name:
 * the caller probably lost a value. Letters count as equal in both cases, and `-` and no separator as
 * `_`. Of very many unknown members, only the first are compared.
 */
export function misspelledMembers(source: JsonObject): readonly FieldError[] {
  const unknown = Object.keys(source).filter((name) => !KNOWN.has(name));
  const found = unknown.slice(0, MAX_COMPARED).flatMap((field): FieldError[] => {
    const meant = NAMES.find((known) => isNear(field, known));
    return meant === undefined ? [] : [{ field, message: `is unknown and was ignored: did you mean ${meant}?` }];
  });
  return found.slice(0, MAX_WARNINGS);
}

function isNear(name: string, known: string): boolean {
  if (Math.abs(name.length - known.length) > 3) return false;
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[-_]/g, '');
  return isOneEdit(plain(name), plain(known));
}

/** Whether two texts are equal or differ by one inserted, removed, replaced or exchanged character. */
function isOneEdit(a: string, b: string): boolean {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}
