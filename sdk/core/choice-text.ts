import type { Decision, Kept } from './choice.js';
import { type Guard, isFlag, isNumber, isText, nullable, objectOf, optional, parseJson, recordOf } from './guards.js';

const DECISIONS: readonly string[] = ['accepted', 'partial', 'rejected', 'withdrawn'] satisfies Decision[];
export const isDecision = (value: unknown): value is Decision => isText(value) && DECISIONS.includes(value);

/** The members of the text in the cookie. */
type Stated = Omit<Kept, 'categories' | 'at' | 'isVoid' | 'isSignalled' | 'isPermitted' | 'wasPermitted'> & {
  readonly at?: number | undefined;
  readonly state?: string | undefined;
  readonly categories: string | Record<string, boolean>;
};
const isAnswers = (value: unknown): value is Stated['categories'] => isText(value) || isMap(value);
const isMap: Guard<Record<string, boolean>> = recordOf(isFlag);
const isStated = objectOf<Stated>({
  at: optional(isNumber),
  state: optional(isText),
  decision: isDecision,
  categories: isAnswers,
  document_version_id: isText,
  language: isText,
  key: optional(isText),
  after: optional(isNumber),
  settledAt: optional(isNumber),
  asked: optional(isText),
  consent_token: optional(isText),
  proof_hash: optional(isText),
  created_at: optional(isText),
  valid_until: optional(nullable(isText)),
});

/**
 * Writes a choice for the cookie: percent-encoded JSON, in which the categories are one text with `!` before each
 * refused category. docs/sdk.md describes it, and public verify reads it.
 */
export function writeChoice({
  at,
  isVoid,
  isSignalled,
  isPermitted,
  wasPermitted,
  categories,
  ...choice
}: Kept): string {
  const state = [isVoid && 'v', isSignalled && 's', isPermitted && 'p', wasPermitted && 'b'].filter(Boolean).join('');
  const answers = Object.entries(categories).map(([key, isOn]) => (isOn ? key : `!${key}`));
  return encodeURIComponent(JSON.stringify({ at, state, ...choice, categories: answers.join('.') } satisfies Stated));
}

/**
 * @returns null for a text that is not a choice. A choice without an order, as backends write it, counts as the oldest.
 */
export function readChoice(text: string): Kept | null {
  const stated = parseJson(decoded(text), isStated);
  if (stated === undefined) return null;
  const { at, state, categories, ...choice } = stated;
  const isGranted = /^[ap]/.test(choice.decision);
  const has = (flag: string, otherwise = false) => state?.includes(flag) ?? otherwise;
  return {
    ...choice,
    at: at ?? (Date.parse(choice.created_at ?? '') || 0),
    isVoid: has('v'),
    isSignalled: has('s'),
    isPermitted: has('p', isGranted),
    wasPermitted: has('b'),
    categories: typeof categories === 'string' ? readAnswers(categories) : categories,
  };
}

function readAnswers(text: string): Record<string, boolean> {
  const keys = text.split('.').filter((key) => key !== '');
  return Object.fromEntries(keys.map((key) => [key.replace('!', ''), key[0] !== '!']));
}

/** Anyone can write a cookie, including one that is not percent-encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
