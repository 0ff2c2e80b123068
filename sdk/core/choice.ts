import type { BrowserConsent } from '../shared/types.js';
import type { Configuration, KnownCategory, KnownDocument } from './answers.js';

export type Decision = BrowserConsent['decision'];
export type Categories = Readonly<Record<string, boolean>>;

/** What a visitor answers. */
export interface Answers {
  readonly categories: Categories;
  /** The answers for services, by their keys. A service that is not named has the answer of its category. */
  readonly services?: Categories | undefined;
}

/**
 * A visitor's choice about cookies. The members of the acceptance are absent until the service has
 * accepted the choice.
 */
export interface Choice {
  readonly decision: string;
  readonly categories: Record<string, boolean>;
  /** The answer for each service. Absent if the site had no switches for services. */
  readonly services?: Record<string, boolean> | undefined;
  readonly document_version_id: string;
  readonly language: string;
  readonly consent_token?: string | undefined;
  readonly proof_hash?: string | undefined;
  /** ISO 8601. */
  readonly created_at?: string | undefined;
  /**
   * Unix milliseconds from which the visitor is asked again. A choice that permits something permits nothing from then
   * on. Absent if that never comes.
   */
  readonly ask_again_at?: number | undefined;
  /** For each category that was exempt from consent: whether it may run, because the visitor did not object. */
  readonly exempt?: Record<string, boolean> | undefined;
  /** Whether the visitor opted out of sale and sharing; false if that was taken back. */
  readonly opt_out?: boolean | undefined;
  /**
   * Order of choices: Unix milliseconds by the visitor's clock, but later than every choice that the page knew, so that
   * setting a clock back does not change the order.
   */
  readonly at: number;
}

/** Content of the cookie `_svc_consent`: a choice, its order among the choices, and its record. */
export interface Kept extends Choice {
  readonly decision: Decision;
  /** Idempotency key under which the choice is recorded. Absent once the service has accepted the choice. */
  readonly key?: string | undefined;
  /**
   * Whether this ends a choice: the service refused the choice, or a signal of the browser came later.
   * It permits nothing, and the visitor is asked again.
   */
  readonly isVoid: boolean;
  /** Whether the signal was on when the choice was made: the choice is then the later of the two, and counts. */
  readonly isSignalled: boolean;
  /**
   * Whether something optional is permitted on record: by this choice or, if this choice is void, by the previous one.
   */
  readonly isPermitted: boolean;
  /** `at` of the previous choice, if that choice was waiting for the service's response when this one was made. */
  readonly after?: number | undefined;
  /** Choices before this `at` were recorded, refused or dropped. They must not be recorded any more. */
  readonly settledAt?: number | undefined;
  /** `isPermitted` of the previous choice. */
  readonly wasPermitted: boolean;
  /** Whether the device and the account have other answers: what both permit counts until the person is asked. */
  readonly differs?: boolean | undefined;
  /** Digests of what the person was asked (`digestsOf`). Absent in choices from before the digests were kept. */
  readonly asked?: string | undefined;
}

/** Choices before this `at` must not be recorded any more: they would count as later ones. */
export function settledAtOf(kept: Kept | null): number {
  return (kept?.consent_token === undefined ? kept?.settledAt : kept.at) ?? 0;
}

/** Whether a choice can be recorded now: no earlier choice of another page must be recorded first. */
export function isNext(kept: Kept): boolean {
  return (kept.after ?? 0) <= settledAtOf(kept);
}

/** The document that consents to cookies refer to. */
export function cookiePolicyOf({ documents }: Configuration): KnownDocument | undefined {
  return documents.find(({ kind }) => kind === 'cookie_policy');
}

/**
 * A choice for every category and, where the site has switches for services, for every service. What is required is on.
 * A category is on only if all its services are: without an answer of its own, it follows them. Refusing everything is a
 * withdrawal if something was permitted before. Nobody consents to an exempt category, whose answers stand apart.
 */
export function completed(
  { categories, service_switches }: Configuration,
  { categories: chosen, services: named = {} }: Answers,
  wasPermitted = false,
): Pick<Kept, 'categories' | 'services' | 'exempt' | 'isPermitted' | 'decision'> {
  const answers: Record<string, boolean> = {};
  const services: Record<string, boolean> = {};
  const exempt: Record<string, boolean> = {};
  let areAllOn = true;
  let isPermitted = false;
  for (const { key, required, rule, services: all = [] } of categories) {
    if (rule === 'exempt') {
      exempt[key] = chosen[key] === true;
      continue;
    }
    const own = service_switches ? all : [];
    let isOn = required || (chosen[key] ?? own.length > 0) === true;
    for (const one of own) {
      const isOwnOn = required || (named[one.key] ?? chosen[key]) === true;
      services[one.key] = isOwnOn;
      isOn &&= isOwnOn;
      isPermitted ||= isOwnOn && !required;
    }
    answers[key] = isOn;
    areAllOn &&= isOn;
    isPermitted ||= isOn && !required;
  }
  const refusal = wasPermitted ? 'withdrawn' : 'rejected';
  return {
    decision: areAllOn ? 'accepted' : isPermitted ? 'partial' : refusal,
    isPermitted,
    categories: answers,
    exempt,
    ...(service_switches && { services }),
  };
}

/** Whether a test is true of an answer for a category or a service. */
export function someAnswer(
  answers: { readonly [Kind in keyof Answers]?: Answers[Kind] | undefined },
  test: (isOn: boolean, kind: 'categories' | 'services', key: string) => boolean,
): boolean {
  return (['categories', 'services'] as const).some((kind) =>
    Object.entries(answers[kind] ?? {}).some(([key, isOn]) => test(isOn, kind, key)),
  );
}

/**
 * Whether a choice answers the current configuration: it has an answer for every category that waits for one and, unless
 * it refuses everything, names the same version of the cookie policy.
 * @param configuration the configuration in the language of the choice
 */
export function isInForce(choice: Kept, configuration: Configuration): boolean {
  return (
    (!choice.isPermitted || cookiePolicyOf(configuration)?.version.id === choice.document_version_id) &&
    configuration.categories.every((one) => !isAskedFor(one) || choice.categories[one.key] !== undefined)
  );
}

/** Whether a category waits for consent: it is not required, and the place has no other rule for it. */
export function isAskedFor({ required, rule }: Pick<KnownCategory, 'required' | 'rule'>): boolean {
  return !required && rule === undefined;
}

/** Whether a choice is recorded, or what is exempt from consent is all that visitors can decide on. */
export function isQuestion({ categories }: Pick<Configuration, 'categories'>): boolean {
  const optional = categories.filter(({ required }) => !required);
  return optional.length === 0 || optional.some(({ rule }) => rule !== 'exempt');
}

/** Whether the period of a choice is over, so that it permits nothing and the visitor is asked again. */
export function isOver({ ask_again_at: end }: Kept, now: number): boolean {
  return end !== undefined && end <= now;
}

/**
 * Whether a category runs that waits for no choice by the rule of the place: unless the visitor objected, opted out or
 * refused, also elsewhere, or the signal of the browser did.
 * @param kept the newest choice
 */
export function runsByRule({ key, rule }: KnownCategory, kept: Kept | null, now: number): boolean {
  if (kept === null) return true;
  const { categories, exempt = {}, opt_out, decision, isPermitted, isVoid } = kept;
  const said = [categories[key], exempt[key]];
  if (said.includes(false) || (rule === 'opt_out' && (opt_out || (isPermitted && isOver(kept, now))))) return false;
  return (
    said.includes(true) ||
    // Whoever refuses everything no longer permits what the end of an opt-out did.
    (opt_out === false && (isVoid || isPermitted)) ||
    // Who refused anything is not held to permit what was added since. The refusal of a backend may name no category.
    (decision === 'accepted' && Object.values({ ...categories, ...exempt }).every(Boolean))
  );
}
