import type { BrowserConsent } from '../shared/types.js';
import type { Configuration, KnownDocument } from './answers.js';
import { isFlag, isText, nullable, objectOf, optional, recordOf } from './guards.js';

export type Decision = BrowserConsent['decision'];
export type Categories = Readonly<Record<string, boolean>>;

/**
 * A visitor's choice about cookies, as the cookie `_svc_consent` holds it. The members of the
 * acceptance are absent until the service has accepted the choice.
 */
export interface Choice {
  readonly decision: string;
  readonly categories: Record<string, boolean>;
  readonly document_version_id: string;
  readonly language: string;
  readonly consent_token?: string | undefined;
  readonly proof_hash?: string | undefined;
  /** ISO 8601. */
  readonly created_at?: string | undefined;
  /** ISO 8601; null: without an end. */
  readonly valid_until?: string | null | undefined;
}

export const isChoice = objectOf<Choice>({
  decision: isText,
  categories: recordOf(isFlag),
  document_version_id: isText,
  language: isText,
  consent_token: optional(isText),
  proof_hash: optional(isText),
  created_at: optional(isText),
  valid_until: optional(nullable(isText)),
});

/** The document to which consents to cookies refer. */
export function cookiePolicyOf({ documents }: Configuration): KnownDocument | undefined {
  return documents.find(({ kind }) => kind === 'cookie_policy');
}

/** The answer for every category: required ones are on, others off unless they are chosen. */
export function completeCategories({ categories }: Configuration, chosen: Categories): Record<string, boolean> {
  return Object.fromEntries(categories.map(({ key, required }) => [key, required || chosen[key] === true]));
}

/** Every category on, or only the required ones. */
export function allCategories({ categories }: Configuration, on: boolean): Record<string, boolean> {
  return Object.fromEntries(categories.map(({ key, required }) => [key, required || on]));
}

/**
 * The decision that a choice amounts to. Refusing everything is a withdrawal if an earlier choice
 * permitted something.
 * @param before the choice that the browser has kept, of any tab; null without one
 */
export function decisionOf({ categories }: Configuration, chosen: Categories, before: Choice | null): Decision {
  const optionalKeys = categories.filter(({ required }) => !required).map(({ key }) => key);
  const granted = optionalKeys.filter((key) => chosen[key] === true);
  if (granted.length === optionalKeys.length) return 'accepted';
  if (granted.length > 0) return 'partial';
  return optionalKeys.some((key) => before?.categories[key] === true) ? 'withdrawn' : 'rejected';
}

/**
 * Whether a choice answers what the site asks now: the same version of the cookie policy, and every
 * optional category.
 * @param configuration in the language of the choice
 */
export function isInForce(choice: Choice, configuration: Configuration): boolean {
  return (
    cookiePolicyOf(configuration)?.version.id === choice.document_version_id &&
    configuration.categories.every(({ key, required }) => required || choice.categories[key] !== undefined)
  );
}

const DAY_MS = 86_400_000;

/** The end of a choice. @param createdAt ISO 8601 @returns ISO 8601; null without an end */
export function validUntil(createdAt: string, { validity_days: days }: Configuration): string | null {
  return days === null ? null : new Date(Date.parse(createdAt) + days * DAY_MS).toISOString();
}
