import { type Asked, askedIn, askedWith, isAsked, isAskedMore } from './asked.js';
import { isAskedFor, isOver, type Kept } from './choice.js';
import type { NoticeOf, ShownNotice } from './consent-body.js';
import { ConsentQueue } from './consent-queue.js';
import { isText } from './guards.js';
import { allows, choiceOf, type Event, type Facts, NOTHING_KNOWN, type Sight, step } from './machine.js';
import type { Jar, Store } from './ports.js';
import { type QueuedConsent, sentOf } from './queue.js';
import { isHonored, isTakenBack } from './transitions.js';
import { identityOf } from './visitor.js';

/** Name of the cookie with the choice. */
export const CHOICE = '_svc_consent';
const VISITOR = '_svc_visitor';
/** What the person was asked, in the store. */
const ASKED = 'asked';

export interface PagePorts {
  readonly jar: Jar;
  readonly store: Store;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** 64 hex digits that were never used. */
  readonly random: () => string;
  /** Whether the browser sends Global Privacy Control. */
  readonly isSignalled: () => boolean;
  /** The site's reference for the person. */
  readonly ownVisitor: string | undefined;
  /** Whether the jar has the choice of somebody who is signed in. */
  readonly isAccount?: boolean | undefined;
  /** The notice that is shown while the signal counts as an opt-out, or undefined if none is shown. */
  readonly noticeOf?: () => NoticeOf | undefined;
  /** Called when the browser did not keep the cookie or a queued consent, which then ends with the page. */
  readonly onNotKept: () => void;
  /** Called when a queued choice is dropped, because a later one was recorded. */
  readonly onGivenUp: (item: QueuedConsent) => void;
}

/** The choice of a visitor on one page: the state machine with its ports. */
export class ConsentPage {
  readonly queue: ConsentQueue;
  readonly #ports: PagePorts;
  #facts: Facts = NOTHING_KNOWN;

  constructor(ports: PagePorts) {
    this.#ports = ports;
    this.queue = new ConsentQueue(ports.store);
  }

  get facts(): Facts {
    return this.#facts;
  }

  /** The choice that counts, or null if the visitor has not chosen, or must choose again. */
  get choice(): Kept | null {
    const { isSignalled, now } = this.#ports;
    return choiceOf(this.#facts, { isSignalled: isSignalled(), now: now() });
  }

  /** Whether the choice counts but the person is asked again, because something was or may have been added since. */
  get isAskedAgain(): boolean {
    const { choice } = this;
    const { configuration } = this.#facts;
    if (choice === null || configuration === null) return false;
    return choice.differs || isAskedMore(choice, configuration, this.#asked()) !== false;
  }

  /** What the question of the newest choice asked for, as far as that is known. */
  get asked(): Asked {
    const { newest, configuration } = this.#facts;
    return (newest && configuration && askedWith(newest, configuration, this.#asked())) ?? [];
  }

  /**
   * `at` of the newest choice, if it or the signal took back what an earlier one permitted, or ended what ran by the rule
   * of the place. Null otherwise.
   */
  get withdrawnAt(): number | null {
    const { newest } = this.#facts;
    if (newest === null) return null;
    const { isVoid, wasPermitted, opt_out, exempt = {}, at } = newest;
    // A choice that the service refused was not taken back.
    const isTaken = isVoid ? isTakenBack(newest) : wasPermitted && this.choice !== null;
    return isTaken || opt_out || Object.values(exempt).includes(false) ? at : null;
  }

  /** Whether nobody is to be asked: every category runs by the rule of the place, and no consent to it has ended. */
  get isUnasked(): boolean {
    const { newest, configuration } = this.#facts;
    const hasEnded = newest?.isPermitted && isOver(newest, this.#ports.now());
    return (
      configuration?.rule_id !== undefined &&
      !configuration.categories.some((one) => isAskedFor(one) || (hasEnded && one.rule === 'opt_out'))
    );
  }

  /** The notice of the signal, while that counts as an opt-out that the person did not take back. */
  get notice(): ShownNotice | undefined {
    const { newest, configuration, isUnavailable } = this.#facts;
    if (newest === null || configuration === null || isUnavailable) return undefined;
    const isRequest = this.#ports.isSignalled() && configuration.region.signal_is_request;
    const counts = isRequest && isHonored(newest) && newest.opt_out !== false;
    return counts ? this.#ports.noticeOf?.()?.(configuration, isTakenBack(newest)).notice : undefined;
  }

  /** @param isService whether `name` is the key of a service, and not of a category */
  allows(name: string, isService = false): boolean {
    const { jar, now, isSignalled } = this.#ports;
    return allows(this.#facts, name, isService, { choices: jar.read(CHOICE), now: now(), isSignalled: isSignalled() });
  }

  /**
   * Applies an event, and writes the cookies and the queue in the same turn.
   * @returns the idempotency key of the consent that the event itself records, or undefined if there is none
   */
  handle(event: Event): string | undefined {
    const { jar, store, onNotKept } = this.#ports;
    const sight = this.#sight();
    const { facts, choice, visitor, send, settledAt } = step(this.#facts, event, sight);
    this.#facts = facts;
    // A later choice was recorded, perhaps by a page of another host. An earlier one would count as the later.
    for (const item of settledAt > 0 ? this.queue.items() : []) {
      const { consent_type, visitor_id } = sentOf(item) ?? {};
      if (consent_type !== 'cookie' || item.queued_at >= settledAt || visitor_id !== identityOf(sight)) continue;
      this.queue.drop(item);
      this.#ports.onGivenUp(item);
    }
    let isKept = true;
    if (choice !== null) isKept = jar.keep(CHOICE, choice);
    if (event.type === 'chose' && facts.configuration !== null) store.write(ASKED, askedIn(facts.configuration));
    if (visitor !== null) {
      store.write('visitor', visitor.id);
      jar.keep(VISITOR, visitor.text);
    }
    for (const one of send) isKept = this.queue.add(one) && isKept;
    if (!isKept) onNotKept();
    return send.at(-1)?.key;
  }

  #asked(): Asked | undefined {
    return this.#ports.store.read(ASKED, isAsked);
  }

  #sight(): Sight {
    const { jar, store, now, random, isSignalled, isAccount, ownVisitor, noticeOf } = this.#ports;
    return {
      now: now(),
      queue: () => this.queue.items(),
      random: random(),
      choices: jar.read(CHOICE),
      visitors: jar.read(VISITOR),
      storedVisitor: store.read('visitor', isText),
      asked: this.#asked(),
      ownVisitor,
      isSignalled: isSignalled(),
      isAccount,
      noticeOf: noticeOf?.(),
    };
  }
}
