import type { Decision, Kept } from './choice.js';
import { areAnswers, isFlag, isNumber, isText, objectOf, optional, parseJson } from './guards.js';

const DECISIONS: readonly string[] = ['accepted', 'partial', 'rejected', 'withdrawn'] satisfies Decision[];
export const isDecision = (value: unknown): value is Decision => isText(value) && DECISIONS.includes(value);

/** The members of the text in the cookie. */
type Stated = Omit<
  Kept,
  'categories' | 'services' | 'exempt' | 'at' | 'isVoid' | 'isSignalled' | 'isPermitted' | 'wasPermitted'
> & {
  readonly at?: number | undefined;
  readonly state?: string | undefined;
  readonly categories: string | Record<string, boolean>;
  readonly services?: string | Record<string, boolean> | undefined;
  readonly exempt?: string | Record<string, boolean> | undefined;
};
const isAnswers = (value: unknown): value is Stated['categories'] => isText(value) || areAnswers(value);
const isStated = objectOf<Stated>({
  at: optional(isNumber),
  state: optional(isText),
  decision: isDecision,
  categories: isAnswers,
  services: optional(isAnswers),
  exempt: optional(isAnswers),
  opt_out: optional(isFlag),
  document_version_id: isText,
  language: isText,
  key: optional(isText),
  after: optional(isNumber),
  settledAt: optional(isNumber),
  asked: optional(isText),
  differs: optional(isFlag),
  consent_token: optional(isText),
  proof_hash: optional(isText),
  created_at: optional(isText),
  ask_again_at: optional(isNumber),
});

/**
 * Writes a choice for the cookie: percent-encoded JSON, in which the categories are one text with `!` before each
 * refused category, as are the services. docs/sdk.md describes it, and public verify reads it.
 */
export function writeChoice({
  at,
  isVoid,
  isSignalled,
  isPermitted,
  wasPermitted,
  categories,
  services,
  exempt,
  ...choice
}: Kept): string {
  const state = [isVoid && 'v', isSignalled && 's', isPermitted && 'p', wasPermitted && 'b'].filter(Boolean).join('');
  const stated: Stated = {
    at,
    state,
    ...choice,
    categories: writeAnswers(categories),
    services: services && writeAnswers(services),
    exempt: (exempt && writeAnswers(exempt)) || undefined,
  };
  return encodeURIComponent(JSON.stringify(stated));
}

/**
 * @returns null for a text that is not a choice. A choice without an order, as backends write it, counts as the oldest.
 */
export function readChoice(text: string): Kept | null {
  const stated = parseJson(decoded(text), isStated);
  if (stated === undefined) return null;
  const { at, state, categories, services, exempt, ...choice } = stated;
  const isGranted = /^[ap]/.test(choice.decision);
  const has = (flag: string, otherwise = false) => state?.includes(flag) ?? otherwise;
  return {
    ...choice,
    at: at ?? (Date.parse(choice.created_at ?? '') || 0),
    isVoid: has('v'),
    isSignalled: has('s'),
    isPermitted: has('p', isGranted),
    wasPermitted: has('b'),
    categories: readAnswers(categories),
    services: readAnswers(services),
    exempt: readAnswers(exempt),
  };
}

function writeAnswers(answers: Record<string, boolean>): string {
  return Object.entries(answers)
    .map(([key, isOn]) => (isOn ? key : `!${key}`))
    .join('.');
}

function readAnswers(answers: Stated['categories']): Record<string, boolean>;
function readAnswers(answers: Stated['services']): Record<string, boolean> | undefined;
function readAnswers(answers: Stated['services']): Record<string, boolean> | undefined {
  if (typeof answers !== 'string') return answers;
  const keys = answers.split('.').filter((key) => key !== '');
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
