import { ApiError } from '../../../schemas/api/error-codes.js';

/** Shorter values occur in ordinary words. */
const SHORTEST = 3;

/**
 * Refuses a reason that repeats the identifier by which the request names a person: the audit log keeps reasons for
 * ever, and the identifier can be erased.
 * @param identifier as the request has it; undefined if it names nobody
 * @throws ApiError VALIDATION_ERROR
 */
export function refuseNaming(reason: string, identifier: string | undefined): void {
  if (identifier === undefined) return;
  const wanted = joined(identifier);
  const repeats = wanted.length >= SHORTEST && joined(reason).includes(wanted);
  if (!repeats && withoutValues(reason, [identifier.trim()]) === reason) return;
  throw new ApiError('VALIDATION_ERROR', undefined, {
    errors: [{ field: 'reason', message: 'must not name the person, because the audit log keeps it for ever' }],
  });
}

/** The letters and digits of a text, in one form and case: `+90 532 …` and `+90532…` find the same person. */
function joined(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/**
 * Replaces the personal values that a reason repeats, in any case.
 * @param values the values; texts in them that are too short to be told from words are ignored
 */
export function withoutValues(reason: string, values: readonly unknown[]): string {
  return values
    .flatMap(textsIn)
    .map((value) => value.trim())
    .filter(({ length }) => length >= SHORTEST && length <= reason.length)
    .reduce(without, reason);
}

/** The texts of a value, also of one with members, such as the extra fields of a form. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function without(text: string, value: string): string {
  // Letter by letter, because the lower case of a text can be longer than the text.
  const letters = [...text];
  const lower = letters.map((letter) => letter.toLowerCase());
  const wanted = [...value].map((letter) => letter.toLowerCase());
  let kept = '';
  for (let place = 0; place < letters.length; ) {
    const isValue = wanted.every((letter, index) => lower[place + index] === letter);
    kept += isValue ? '[…]' : letters[place];
    place += isValue ? wanted.length : 1;
  }
  return kept;
}
