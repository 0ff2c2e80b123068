import type { BrowserConsent } from '../shared/types.js';
import type { Acceptance, Configuration } from './answers.js';
import { type Asked, isAskedMore } from './asked.js';
import {
  type Answers,
  completed,
  cookiePolicyOf,
  isInForce,
  isNext,
  isOver,
  type Kept,
  runsByRule,
  settledAtOf,
  someAnswer,
} from './choice.js';
import { readChoice, writeChoice } from './choice-text.js';
import { type NoticeOf, type Outgoing, outgoing, type StatedWithChoice } from './consent-body.js';
import { newestOf } from './newest.js';
import type { QueuedConsent } from './queue.js';
import {
  beside,
  chosen,
  confirmed,
  heeded,
  isHonored,
  isTakenBack,
  objectionOf,
  optOutOf,
  revoked,
  settled,
} from './transitions.js';
import { identityOf, readVisitors, writeVisitor } from './visitor.js';

/** The state of a page: the visitor's newest choice, and the configuration of the site. */
export interface Facts {
  /** The newest choice or its end, or null if there is none. */
  readonly newest: Kept | null;
  /** `at` of a choice that does not answer the current configuration. */
  readonly outdated: number | null;
  readonly configuration: Configuration | null;
  /** Whether no choice can be recorded. */
  readonly isUnavailable: boolean;
}

export const NOTHING_KNOWN: Facts = { newest: null, outdated: null, configuration: null, isUnavailable: false };

/** The surroundings of a page at the moment of an event: clock, queue, cookies and signal. */
export interface Sight {
  /** Unix milliseconds of the visitor's clock. */
  readonly now: number;
  /** The consents that wait in the page's own store, oldest first. */
  readonly queue: () => readonly QueuedConsent[];
  /** 64 hex digits that were never used. */
  readonly random: string;
  /** Values of the cookies that hold the choice. */
  readonly choices: readonly string[];
  /** Values of the cookies that hold the reference for this browser. */
  readonly visitors: readonly string[];
  /** The reference in the page's own store. */
  readonly storedVisitor: string | undefined;
  /** What the page's own store knows about the question of the choice. */
  readonly asked: Asked | undefined;
  /** The site's reference for the person. */
  readonly ownVisitor: string | undefined;
  /** Whether the browser sends Global Privacy Control. */
  readonly isSignalled: boolean;
  /** Whether the choice is that of somebody who is signed in. */
  readonly isAccount?: boolean | undefined;
  /** The notice that is shown while the signal counts as an opt-out, or undefined if none is shown. */
  readonly noticeOf?: NoticeOf | undefined;
}

export type Event =
  /** The page was shown, or another tab may have changed something. */
  | { readonly type: 'looked' }
  /** The configuration was read for the choice that the page knows. */
  | { readonly type: 'configured'; readonly configuration: Configuration }
  /** The texts were read again, perhaps in another language. */
  | { readonly type: 'translated'; readonly configuration: Configuration }
  /** Nothing can be recorded. */
  | { readonly type: 'failed' }
  | (Answers & { readonly type: 'chose'; readonly stated: StatedWithChoice })
  /** The page records a consent beside the choice, for example to a document. */
  | { readonly type: 'recorded'; readonly consent: BrowserConsent }
  | (Answered & { readonly type: 'accepted'; readonly acceptance: Acceptance })
  /** The service will never accept this consent. */
  | (Answered & { readonly type: 'refused'; readonly isOutdated: boolean });

/** A queued consent that the service has responded to. */
interface Answered {
  readonly key: string;
  /** `queued_at` of the consent. */
  readonly at: number;
  readonly consentType: string;
}

/** The result of an event: the new state, and the writes and requests that follow. */
export interface Step {
  readonly facts: Facts;
  /** The new text of the cookie of the choice, or null if the cookie stays as it is. */
  readonly choice: string | null;
  /** The new reference for this browser, or null if the kept one stays. */
  readonly visitor: { readonly text: string; readonly id: string } | null;
  /** Choices before this `at` must not be recorded any more. */
  readonly settledAt: number;
  /**
   * Consents to record, oldest first, except those whose key is in progress. The consent of the event itself is the
   * last.
   */
  readonly send: readonly Outgoing[];
}

/** Computes the next state of a page, and the values to keep and to send. */
export function step(facts: Facts, event: Event, sight: Sight): Step {
  const found = sight.choices.flatMap((text) => readChoice(text) ?? []);
  const before = newestOf(found, facts.newest, sight.now);
  const moment = { ...sight, key: sight.random.slice(0, 32) };
  const configuration = 'configuration' in event ? event.configuration : facts.configuration;
  const recorded: BrowserConsent[] = event.type === 'recorded' ? [event.consent] : [];
  let newest = before;
  let { isUnavailable } = facts;
  switch (event.type) {
    case 'configured': {
      isUnavailable = cookiePolicyOf(event.configuration) === undefined;
      if (isUnavailable) break;
      newest = heeded(before, event.configuration, moment);
      const isRequest = event.configuration.region.signal_is_request && newest?.isSignalled && !before?.isSignalled;
      const optOut = isRequest ? optOutOf(event.configuration, true) : undefined;
      const presentation = newest === null ? undefined : sight.noticeOf?.(event.configuration, isTakenBack(newest));
      if (optOut !== undefined) recorded.push({ ...optOut, presentation });
      break;
    }
    case 'failed':
      isUnavailable = true;
      break;
    case 'chose':
      if (configuration === null) break;
      newest = chosen(before, event, configuration, moment);
      isUnavailable = false;
      break;
    case 'recorded':
      newest = besides(before, event, sight.now);
      break;
    case 'accepted':
      if (before?.key === event.key) {
        newest = confirmed(before, event.acceptance);
      } else newest = settledBy(event, before);
      break;
    case 'refused':
      if (before !== null && (before.key === event.key || event.consentType === 'objection')) {
        newest = revoked(before, event.key);
        isUnavailable = !event.isOutdated;
      } else if (event.consentType === 'do_not_sell_opt_out' && before !== null && isHonored(before)) {
        // The next event records the signal again.
        newest = { ...before, isSignalled: false };
      } else newest = settledBy(event, before);
  }
  if (configuration !== null) recorded.push(...objections(before, newest, event, configuration));
  const next: Facts = {
    newest,
    configuration,
    isUnavailable,
    outdated: outdatedOf(facts, event, newest, sight.asked, configuration),
  };
  return { facts: next, ...consequences(next, event, sight, { before, found, recorded }) };
}

/** The objection that an event makes or ends, if it does. */
function objections(
  before: Kept | null,
  newest: Kept | null,
  event: Event,
  configuration: Configuration,
): readonly BrowserConsent[] {
  const isAct = event.type === 'chose';
  const objection = isAct || event.type === 'configured' ? objectionOf(before, newest, configuration) : undefined;
  return objection ? [{ ...objection, presentation: isAct ? event.stated.presentation : undefined }] : [];
}

/** The choice after an opt-out or its end, which stands beside the answers. */
function besides(before: Kept | null, event: Extract<Event, { type: 'recorded' }>, now: number): Kept | null {
  const { consent_type, decision } = event.consent;
  return consent_type === 'do_not_sell_opt_out' ? beside(before, now, { opt_out: decision === 'accepted' }) : before;
}

function settledBy({ consentType, at }: Answered, before: Kept | null): Kept | null {
  return consentType === 'cookie' && before?.key !== undefined ? settled(before, at) : before;
}

/** The choice that counts, or null if the visitor has not chosen, or must choose again. */
export function choiceOf(
  { newest, outdated, configuration, isUnavailable }: Facts,
  { isSignalled, now }: Pick<Sight, 'isSignalled' | 'now'>,
): Kept | null {
  if (newest === null || newest.isVoid || newest.at === outdated || isUnavailable || configuration === null)
    return null;
  if (isOver(newest, now)) return null;
  return isSignalled && newest.isPermitted && !newest.isSignalled ? null : newest;
}

/**
 * Whether the visitor permits a category or a service, by the state of the page and by the current cookies: a refusal in
 * another tab counts before this page receives an event about it.
 * @param name key of the category or, with `isService`, of the service. A service that was added since the choice, or
 * that the site does not have, is not permitted
 */
export function allows(
  facts: Facts,
  name: string,
  isService: boolean,
  sight: Pick<Sight, 'choices' | 'isSignalled' | 'now'>,
): boolean {
  const { choices, isSignalled, now } = sight;
  const category = facts.configuration?.categories.find(({ key, services }) =>
    isService ? services?.some((one) => one.key === name) : key === name,
  );
  if (category?.required) return true;
  if (isService && category === undefined) return false;
  const isOn = (newest: Kept | null): boolean => {
    if (category?.rule !== undefined) {
      // The next event heeds the signal.
      if (facts.isUnavailable || (isSignalled && !newest?.isSignalled) || !runsByRule(category, newest, now))
        return false;
      return !isService || newest?.services?.[name] !== false;
    }
    const { categories = {}, services } = choiceOf({ ...facts, newest }, sight) ?? {};
    return (isService && services ? services[name] : categories[category?.key ?? name]) === true;
  };
  const found = choices.flatMap((text) => readChoice(text) ?? []);
  return isOn(facts.newest) && isOn(newestOf(found, facts.newest, now));
}

function outdatedOf(
  facts: Facts,
  { type }: Event,
  newest: Kept | null,
  asked: Asked | undefined,
  configuration: Configuration | null,
): number | null {
  if (newest === null || configuration === null) return null;
  const isNew = type === 'looked' && newest.at !== facts.newest?.at && newest.language === configuration.language;
  if (type !== 'configured' && !isNew) return facts.outdated;
  return isInForce(newest, configuration) && isAskedMore(newest, configuration, asked) !== null ? null : newest.at;
}

interface Cause {
  readonly before: Kept | null;
  readonly found: readonly Kept[];
  readonly recorded: readonly BrowserConsent[];
}

function consequences(facts: Facts, event: Event, sight: Sight, cause: Cause): Omit<Step, 'facts'> {
  const { newest, configuration } = facts;
  const { before, found } = cause;
  const { random, choices, visitors, ownVisitor } = sight;
  const id = identityOf(sight) ?? random.slice(32);
  // A cookie that a page sets again lasts longer, and a refusal has no end.
  const isOld = event.type === 'configured' && found.length > 0;
  const isStale = isOld || choices.length > 1 || found.some(({ at }) => newest !== null && at < newest.at);
  // Cookies that were cleared stay cleared: another page may have known of a later refusal.
  const isCleared = found.length === 0 && (event.type === 'accepted' || event.type === 'refused');
  const isKept = newest !== null && !isCleared && (newest !== before || (isStale && configuration !== null));
  const send =
    configuration === null
      ? []
      : [
          ...(isKept ? withdrawnElsewhere(newest, found, id, configuration, sight) : []),
          ...sent(facts, configuration, event, sight, cause, id),
        ];
  const isNamed = ownVisitor === undefined && (isKept || send.some(({ body }) => body.includes(id)));
  const text = writeVisitor({ at: newest?.at ?? 0, id });
  return {
    send,
    settledAt: Math.max(settledAtOf(before), settledAtOf(newest)),
    choice: isKept ? writeChoice(newest) : null,
    visitor: isNamed && visitors.join() !== text ? { text, id } : null,
  };
}

/** The consents to send: those of the event, and those that another page of the site did not finish. */
function sent(
  { newest, isUnavailable }: Facts,
  configuration: Configuration,
  event: Event,
  sight: Sight,
  { before, recorded }: Cause,
  id: string,
): readonly Outgoing[] {
  const { type } = event;
  const { now, random, ownVisitor, isSignalled, queue } = sight;
  const isTaken = !isUnavailable && (type === 'chose' || type === 'configured');
  if (recorded.length === 0 && !isTaken) return [];
  const queued = queue();
  return [
    ...recorded.map((consent) =>
      outgoing(consent, configuration, {
        // The choice itself has the key without the letter.
        key: random.slice(0, 32) + (consent.consent_type === 'objection' ? 'o' : ''),
        // Sorts after what other tabs queued, even within the same millisecond and after the clock was set back.
        at: Math.max(now, (queued.at(-1)?.queued_at ?? 0) + 1),
        now,
        isSignalled,
        // An approval token names the person; another reference would contradict it.
        visitorId: consent.approval_token == null ? id : ownVisitor,
      }),
    ),
    ...[...new Set(isTaken ? [before, newest] : [])].flatMap((one) => {
      if (one?.key === undefined || one.isVoid || (one === before && !isNext(one))) return [];
      if (queued.some(({ idempotency_key }) => idempotency_key === one.key)) return [];
      // The cookie keeps the answers only: a choice that another page finishes is recorded without the rest.
      const consent = { ...consentOf(one), ...(event.type === 'chose' && one === newest && event.stated) };
      return outgoing(consent, configuration, { ...one, now, key: one.key, visitorId: id });
    }),
  ];
}

/**
 * A choice that was made under another reference, on a host that did not share its cookies yet or before the person
 * signed in, is also withdrawn under that reference.
 */
function withdrawnElsewhere(
  newest: Kept,
  found: readonly Kept[],
  id: string,
  configuration: Configuration,
  { visitors, now, isSignalled }: Sight,
): readonly Outgoing[] {
  const known = readVisitors(visitors);
  return found.flatMap((one) => {
    const { at } = one;
    const visitorId = known.find((visitor) => visitor.at === at)?.id;
    const isWider = one.isPermitted && someAnswer(one, (isOn, kind, key) => isOn && !newest[kind]?.[key]);
    if (visitorId === undefined || visitorId === id || newest.isVoid || !isWider) return [];
    const { decision } = completed(configuration, newest, true);
    const key = `${at.toString(36)}-${visitorId}`;
    return outgoing({ ...consentOf(newest), decision }, configuration, {
      key,
      at: newest.at,
      now,
      isSignalled,
      visitorId,
    });
  });
}

function consentOf({ decision, document_version_id, language, categories, services }: Kept): BrowserConsent {
  return { consent_type: 'cookie', decision, document_version_id, language, categories, services };
}
