import { BrowserConsentRequest, type ConsentRequest, S2sConsentRequest } from '../../../schemas/api/consents.js';
import type { FieldError } from '../../../schemas/api/error-codes.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import type { ActiveVersion, Channel, SiteContext } from '../../tenancy/directory/site-context.js';

const NAMES = Object.keys(S2sConsentRequest.shape);
const KNOWN: Readonly<Record<Channel, ReadonlySet<string>>> = {
  browser: new Set(Object.keys(BrowserConsentRequest.shape)),
  s2s: new Set(NAMES),
};
const MAX_WARNINGS = 10;

/**
 * Names the members of a consent that were ignored: the caller lost their values. Of an unknown one that
 * is one edit away from a known name, it names that: letters count as equal in both cases, and `-` and no
 * separator as `_`. Of very many, only the first are named.
 */
export function ignoredMembers(source: JsonObject, channel: Channel): readonly FieldError[] {
  return Object.keys(source)
    .filter((name) => !KNOWN[channel].has(name))
    .slice(0, MAX_WARNINGS)
    .map((field) =>
      KNOWN.s2s.has(field)
        ? { field, message: 'is read from backends only, and was ignored' }
        : { field, message: `is unknown and was ignored${suggestion(field, NAMES)}` },
    );
}

/** Consent types that the interface names. */
const TYPES: readonly string[] = ['cookie', 'document_approval', 'do_not_sell_opt_out'];

/**
 * Names the values of an admissible consent that the site does not know: categories, which were ignored,
 * and a type of consent.
 */
export function unknownValues(
  { categories, consent_type: type }: Pick<ConsentRequest, 'categories' | 'consent_type'>,
  config: NonNullable<SiteContext['config']>,
  { kind, slug }: ActiveVersion,
): readonly FieldError[] {
  const keys = config.record.categories.map(({ key }) => key);
  const unknown = Object.keys(categories ?? {}).filter((key) => !keys.includes(key));
  const types = [...TYPES, kind, slug];
  return [
    ...unknown.slice(0, MAX_WARNINGS).map((key) => ({
      field: `categories.${key.slice(0, MAX_NAMED)}`,
      message: `is no category of the configuration, and was ignored${suggestion(key, keys)}`,
    })),
    ...(types.includes(type)
      ? []
      : [
          {
            field: 'consent_type',
            message: `is none of ${TYPES.join(', ')}, and was recorded as it is${suggestion(type, TYPES)}`,
          },
        ]),
  ];
}

/** Longest name of an unknown category that a warning repeats. */
const MAX_NAMED = 100;

function suggestion(name: string, known: readonly string[]): string {
  const meant = known.find((other) => isNear(name, other));
  return meant === undefined ? '' : `: did you mean ${meant}?`;
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
