import type { Kept } from './choice.js';
import { ConsentQueue } from './consent-queue.js';
import { isText } from './guards.js';
import { allows, choiceOf, type Event, type Facts, MOST_DAYS, NOTHING_KNOWN, type Sight, step } from './machine.js';
import type { Jar, Store } from './ports.js';
import { type QueuedConsent, sentOf } from './queue.js';
import { identityOf } from './visitor.js';

const CHOICE = '_svc_consent';
const VISITOR = '_svc_visitor';

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

  /** The choice that counts; null if the visitor has not chosen, or must choose again. */
  get choice(): Kept | null {
    return choiceOf(this.#facts, this.#ports.isSignalled());
  }

  allows(category: string): boolean {
    const { jar, now, isSignalled } = this.#ports;
    return allows(this.#facts, category, { choices: jar.read(CHOICE), now: now(), isSignalled: isSignalled() });
  }

  /**
   * Applies an event, and writes the cookies and the queue in the same turn.
   * @returns the idempotency key of the consent that the event itself records; undefined without one
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
    if (choice !== null) isKept = jar.keep(CHOICE, choice.text, choice.days);
    if (visitor !== null) {
      store.write('visitor', visitor.id);
      jar.keep(VISITOR, visitor.text, choice?.days ?? MOST_DAYS);
    }
    for (const one of send) isKept = this.queue.add(one) && isKept;
    if (!isKept) onNotKept();
    return send.at(-1)?.key;
  }

  #sight(): Sight {
    const { jar, store, now, random, isSignalled, ownVisitor } = this.#ports;
    return {
      now: now(),
      queue: () => this.queue.items(),
      random: random(),
      choices: jar.read(CHOICE),
      visitors: jar.read(VISITOR),
      storedVisitor: store.read('visitor', isText),
      ownVisitor,
      isSignalled: isSignalled(),
    };
  }
}
