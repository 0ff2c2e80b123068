import type { BrowserConsent } from '../shared/types.js';
import type { Acceptance, Configuration } from './answers.js';
import { askedIn, digestsOf } from './asked.js';
import { type Answers, completed, cookiePolicyOf, isNext, type Kept, settledAtOf, validUntil } from './choice.js';
import { isRequestBy } from './precedence.js';
import type { QueuedConsent } from './queue.js';

/** Time, idempotency key and surroundings of a transition. */
export interface Moment {
  /** Unix milliseconds of the visitor's clock. */
  readonly now: number;
  /** Idempotency key of the consent to record. */
  readonly key: string;
  readonly isSignalled: boolean;
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
  const version = cookiePolicyOf(configuration)?.version;
  if (version === undefined) return before;
  const wasPermitted = before?.isPermitted ?? false;
  const waits = before?.key !== undefined && !before.isVoid;
  // More than one choice waits on another host, and this page only knows the last of them.
  const isElsewhere =
    waits && !isNext(before) && queue().every(({ idempotency_key }) => idempotency_key !== before.key);
  return {
    at: after(before, now),
    key,
    isVoid: false,
    isSignalled,
    wasPermitted,
    after: waits ? before.at : undefined,
    settledAt: (isElsewhere ? before.at + 1 : settledAtOf(before)) || undefined,
    asked: digestsOf(askedIn(configuration)),
    ...completed(configuration, stated, wasPermitted),
    document_version_id: version.id,
    language: version.language,
  };
}

/** The choice after its record was accepted. */
export function confirmed(
  kept: Kept,
  { consent_token, proof_hash, created_at }: Acceptance,
  configuration: Configuration,
): Kept {
  return {
    ...kept,
    key: undefined,
    consent_token,
    proof_hash,
    created_at,
    valid_until: validUntil(created_at, configuration),
  };
}

/** The choice after an earlier one was recorded or refused. @param at time of the earlier one */
export function settled(kept: Kept, at: number): Kept {
  return { ...kept, settledAt: Math.max(at, settledAtOf(kept)) };
}

/** Ends a choice that the service refused: a choice that is not recorded permits nothing. */
export function revoked(kept: Kept): Kept {
  return ended(kept, kept.at, kept.wasPermitted);
}

/**
 * Applies the signal of the browser to the newest choice, by the law of the visitor's region
 * (precedence.ts).
 * @returns `isOptOut` is true if the signal is to be recorded as an opt-out
 */
export function heeded(
  before: Kept | null,
  configuration: Configuration,
  moment: Moment,
): { readonly newest: Kept | null; readonly isOptOut: boolean } {
  if (!moment.isSignalled) {
    // The signal ended. If it comes again, it is later than the choice.
    return { newest: before?.isSignalled ? { ...before, isSignalled: false } : before, isOptOut: false };
  }
  if (before?.isSignalled) return { newest: before, isOptOut: false };
  if (isRequestBy(configuration.region.compliance_framework)) {
    const isRefusal = before !== null && !before.isVoid && !before.isPermitted;
    const marked = isRefusal ? before : ended(before, moment.now, before?.isPermitted ?? false);
    return { newest: { ...marked, isSignalled: true }, isOptOut: true };
  }
  const withdrawn = before?.isPermitted ? chosen(before, { categories: {} }, configuration, moment) : before;
  // Nobody was asked anything new.
  return { newest: withdrawn && { ...withdrawn, asked: before?.asked }, isOptOut: false };
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
      document_version_id: notice.version.id,
      language: notice.version.language,
    }
  );
}

function ended(before: Kept | null, now: number, isPermitted: boolean): Kept {
  return {
    at: after(before, now),
    isVoid: true,
    isSignalled: before?.isSignalled ?? false,
    settledAt: settledAtOf(before) || undefined,
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
