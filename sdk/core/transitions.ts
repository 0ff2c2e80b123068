import type { BrowserConsent } from '../shared/types.js';
import type { Acceptance, Configuration, KnownDocument } from './answers.js';
import { askedIn, digestsOf } from './asked.js';
import { type Answers, completed, cookiePolicyOf, isNext, isQuestion, type Kept, settledAtOf } from './choice.js';
import type { QueuedConsent } from './queue.js';

const DAY_MS = 86_400_000;

/** Time, idempotency key and surroundings of a transition. */
export interface Moment {
  /** Unix milliseconds of the visitor's clock. */
  readonly now: number;
  /** Idempotency key of the consent to record. */
  readonly key: string;
  readonly isSignalled: boolean;
  /** Whether the choice is that of somebody who is signed in. */
  readonly isAccount?: boolean | undefined;
  /** The consents that wait in the page's own store. */
  readonly queue: () => readonly QueuedConsent[];
}

/** The visitor's choice. @param before the newest choice that the page knows */
export function chosen(
  before: Kept | null,
  stated: Answers,
  configuration: Configuration,
  { now, key, isSignalled, queue }: Moment,
): Kept | null {
  const policy = cookiePolicyOf(configuration);
  if (policy === undefined) return before;
  const wasPermitted = before?.isPermitted ?? false;
  const waits = before?.key !== undefined && !before.isVoid;
  // More than one choice waits on another host, and this page only knows the last of them.
  const isElsewhere =
    waits && !isNext(before) && queue().every(({ idempotency_key }) => idempotency_key !== before.key);
  const answers = completed(configuration, stated, wasPermitted);
  const days = answers.isPermitted ? configuration.validity_days : configuration.refusal_days;
  return {
    at: after(before, now),
    // Without a question, only an objection is recorded.
    key: isQuestion(configuration) ? key : undefined,
    isVoid: false,
    isSignalled,
    wasPermitted,
    after: waits ? before.at : undefined,
    settledAt: (isElsewhere ? before.at + 1 : settledAtOf(before)) || undefined,
    asked: digestsOf(askedIn(configuration)),
    opt_out: before?.opt_out,
    ...answers,
    exempt: { ...before?.exempt, ...answers.exempt },
    ask_again_at: days === null ? undefined : now + days * DAY_MS,
    ...referringTo(policy),
  };
}

/** The text that a consent refers to. */
function referringTo({ version }: KnownDocument): Pick<Kept, 'document_version_id' | 'language'> {
  return { document_version_id: version.id, language: version.language };
}

/** The choice after its record was accepted. */
export function confirmed(kept: Kept, { consent_token, proof_hash, created_at }: Acceptance): Kept {
  return { ...kept, key: undefined, consent_token, proof_hash, created_at };
}

/** The choice after an earlier one was recorded or refused. @param at time of the earlier one */
export function settled(kept: Kept, at: number): Kept {
  return { ...kept, settledAt: Math.max(at, settledAtOf(kept)) };
}

/**
 * Ends a choice that the service refused: a choice that is not recorded permits nothing. A refused objection is recorded
 * when the person, who is asked again, repeats it.
 * @param key of what was refused, the choice or an objection
 */
export function revoked(kept: Kept, key: string): Kept {
  return { ...ended(kept, kept.at, kept.wasPermitted), exempt: kept.key === key ? kept.exempt : undefined };
}

/**
 * Applies the signal of the browser to the newest choice, by the law of the visitor's region (docs/sdk-rules.md). In
 * every law the later of the two counts. Where the signal is itself a request to opt out, it is recorded as one, even
 * without a choice; elsewhere it withdraws what was permitted, and objects to what is exempt from consent.
 */
export function heeded(before: Kept | null, configuration: Configuration, moment: Moment): Kept | null {
  // The signal ended. If it comes again, it is later than the choice.
  if (!moment.isSignalled) return before?.isSignalled ? { ...before, isSignalled: false } : before;
  if (before?.isSignalled) return before;
  if (configuration.region.signal_is_request) {
    const isRefusal = before !== null && !before.isVoid && !before.isPermitted && before.decision !== 'accepted';
    const marked = isRefusal ? before : ended(before, moment.now, before?.isPermitted ?? false);
    // A new signal counts, also for what was exempt elsewhere, and even if the person took back an earlier one.
    return { ...marked, isSignalled: true, exempt: undefined, opt_out: before?.opt_out || undefined };
  }
  // It holds on this device, where it counts without a record, and says nothing of the person's others.
  if (moment.isAccount) return before;
  const withdrawn = before?.isPermitted ? chosen(before, { categories: {} }, configuration, moment) : before;
  // Nobody was asked anything new.
  const newest = withdrawn && { ...withdrawn, asked: before?.asked };
  const { exempt } = completed(configuration, { categories: {} });
  const next = beside(newest, moment.now, { exempt: { ...before?.exempt, ...exempt } });
  // Not marked as heeded: where the signal is a request to opt out, it is recorded as one after the objection.
  return objectionOf(newest, next, configuration) ? next : newest;
}

/** The choice with what stands beside its answers, or without answers if the person has not chosen. */
export function beside(before: Kept | null, now: number, stated: Pick<Kept, 'exempt' | 'opt_out'>): Kept {
  return { ...(before ?? ended(null, now, false)), ...stated };
}

/**
 * The objection to what is exempt from consent, or its end, if the newest choice changes it.
 * @returns undefined if there is nothing to record
 */
export function objectionOf(
  before: Kept | null,
  newest: Kept | null,
  configuration: Configuration,
): BrowserConsent | undefined {
  const policy = cookiePolicyOf(configuration);
  const objectedTo = (kept: Kept | null) =>
    configuration.categories.flatMap(({ key, rule }) =>
      rule === 'exempt' && kept?.exempt?.[key] === false ? key : [],
    );
  const keys = objectedTo(newest);
  if (policy === undefined || keys.join() === objectedTo(before).join()) return undefined;
  const categories = Object.fromEntries(keys.map((key) => [key, false]));
  return {
    consent_type: 'objection',
    ...referringTo(policy),
    ...(keys.length > 0 ? { decision: 'rejected', categories } : { decision: 'withdrawn' }),
  };
}

/** Whether a signal ended what an earlier choice permitted. */
export function isTakenBack({ isSignalled, isVoid, wasPermitted }: Kept): boolean {
  return isSignalled && isVoid && wasPermitted;
}

/** Whether the signal of the browser counts, because the person permitted nothing since. */
export function isHonored({ isSignalled, isVoid, isPermitted }: Kept): boolean {
  return isSignalled && (isVoid || !isPermitted);
}

/**
 * An opt-out of the sale and sharing of personal data, or its end. It refers to the site's
 * `do_not_sell` document, else to the cookie policy.
 * @returns undefined if the site has neither
 */
export function optOutOf(configuration: Configuration, isOptedOut: boolean): BrowserConsent | undefined {
  const notice = configuration.documents.find(({ kind }) => kind === 'do_not_sell') ?? cookiePolicyOf(configuration);
  return (
    notice && {
      consent_type: 'do_not_sell_opt_out',
      decision: isOptedOut ? 'accepted' : 'withdrawn',
      ...referringTo(notice),
    }
  );
}

/** The end of a choice, which permits nothing. */
export function ended(before: Kept | null, now: number, isPermitted: boolean): Kept {
  return {
    at: after(before, now),
    isVoid: true,
    isSignalled: before?.isSignalled ?? false,
    settledAt: settledAtOf(before) || undefined,
    exempt: before?.exempt,
    // What was refused with it is not kept.
    opt_out: before?.opt_out || undefined,
    isPermitted,
    wasPermitted: isPermitted,
    decision: 'withdrawn',
    categories: {},
    document_version_id: '',
    language: '',
  };
}

/** Later than what the page knew, even after the clock was set back. */
function after(before: Kept | null, now: number): number {
  return Math.max(now, (before?.at ?? 0) + 1);
}
