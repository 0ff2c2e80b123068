import { backOffMs, isRetried } from '../shared/retry.js';
import { type Acceptance, isAcceptance } from './answers.js';
import type { Outgoing } from './consent-body.js';
import { isNumber, isText, objectOf } from './guards.js';
import type { Answer, Store } from './ports.js';
import {
  isQueued,
  MOST_ATTEMPTS,
  type Move,
  nextMove,
  passedBy,
  QUEUE,
  type QueuedConsent,
  streamOf,
  type Tries,
} from './queue.js';

/** Begins the names of accepted consents, before their tokens. */
export const RECORD = 'record:';
const NOT_BEFORE = 'not-before';
const MOST_RECORDS = 50;

/** A consent that the service accepted, with its promise. */
export interface KeptRecord extends Acceptance {
  readonly idempotency_key: string;
}

const isKeyed = objectOf<{ idempotency_key: string }>({ idempotency_key: isText });
const isKept = (value: unknown): value is KeptRecord => isAcceptance(value) && isKeyed(value);

/**
 * What happens to a consent after a response other than an acceptance.
 *
 * - `again`: the consent is sent again later.
 * - `clock`: it is sent again after the clock of the service was read.
 * - `outdated`: it is sent again after the configuration was read, whose document version may be inactive.
 * - `refused`: it is not sent again.
 */
export type Verdict = 'again' | 'clock' | 'outdated' | 'refused';

/** Queued consents, and the newest records, in the store of the origin. */
export class ConsentQueue {
  readonly #store: Store;
  readonly #tries = new Map<string, Tries>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** @returns whether later pages of the origin can send it */
  add({ key, body, at }: Outgoing): boolean {
    const item: QueuedConsent = { idempotency_key: key, body, queued_at: at };
    return this.#store.write(nameOf(item), item);
  }

  /** Consents that wait for an answer, oldest first. */
  items(): readonly QueuedConsent[] {
    return this.#store.names(QUEUE).flatMap((name) => this.#store.read(name, isQueued) ?? []);
  }

  /** The newest accepted consents of this browser, oldest first, at most 50. */
  records(): readonly KeptRecord[] {
    return this.#store
      .names(RECORD)
      .flatMap((name) => this.#store.read(name, isKept) ?? [])
      .sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
  }

  recordOf({ idempotency_key: key }: QueuedConsent): KeptRecord | undefined {
    return this.records().find(({ idempotency_key }) => idempotency_key === key);
  }

  /** Names of the streams with waiting consents. */
  streams(): ReadonlySet<string> {
    return new Set(this.items().map(streamOf));
  }

  /** @param now Unix milliseconds */
  next(stream: string, now: number): Move {
    const items = this.items().filter((item) => streamOf(item) === stream);
    return nextMove(items, this.#tries, now, this.#store.read(NOT_BEFORE, isNumber) ?? 0);
  }

  /**
   * Stores the record of an accepted consent.
   * @returns the consents that are dropped because the accepted one overtook them
   */
  accept(item: QueuedConsent, acceptance: Acceptance): readonly QueuedConsent[] {
    const passed = passedBy(item, this.items());
    this.#store.write(RECORD + acceptance.consent_token, { ...acceptance, idempotency_key: item.idempotency_key });
    for (const { consent_token } of this.records().slice(0, -MOST_RECORDS)) this.#store.remove(RECORD + consent_token);
    for (const one of [item, ...passed]) this.drop(one);
    return passed;
  }

  /**
   * Handles the answer to a consent that was not accepted.
   * @param code error code of the service
   * @param now Unix milliseconds
   */
  fail(item: QueuedConsent, { status, retryAfterMs }: Answer, code: string, now: number): Verdict {
    const count = this.#tries.get(item.idempotency_key)?.count ?? 0;
    if (status === 0 || isRetried(status)) {
      if (retryAfterMs !== null) this.#store.write(NOT_BEFORE, now + retryAfterMs);
      this.wait(item, now, retryAfterMs, status === 500);
      return 'again';
    }
    if (count + 1 < MOST_ATTEMPTS) {
      // A request that is signed again, with the right time or a new nonce, can be accepted.
      this.wait(item, now, code === 'CONFIG_OUTDATED' ? null : 0);
      // A token is valid for a while, and once.
      if (/^(NONCE_REPLAYED|PERSON_TOKEN)/.test(code)) return 'again';
      if (code === 'TIMESTAMP_EXPIRED') return 'clock';
      if (code === 'CONFIG_OUTDATED') return 'outdated';
    }
    return 'refused';
  }

  /**
   * Delays the next attempt.
   * @param waitMs the delay, or null for one that grows each time
   * @param isFault whether the consent is the cause
   */
  wait({ idempotency_key: key }: QueuedConsent, now: number, waitMs: number | null, isFault = false): void {
    const { count, faults } = this.#tries.get(key) ?? { count: 0, faults: 0 };
    const notBefore = now + (waitMs ?? backOffMs(count + 1, Math.random()));
    this.#tries.set(key, { count: count + 1, faults: faults + Number(isFault), notBefore });
  }

  /** Removes a consent from the queue. */
  drop(item: QueuedConsent): void {
    this.#tries.delete(item.idempotency_key);
    this.#store.remove(nameOf(item));
  }

  /** Forgets the failed attempts of all consents. */
  begin(): void {
    this.#tries.clear();
  }
}

function nameOf({ queued_at, idempotency_key }: QueuedConsent): string {
  return QUEUE + queued_at.toString().padStart(16, '0') + idempotency_key;
}
