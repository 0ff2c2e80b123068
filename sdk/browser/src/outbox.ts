import { type Acceptance, isAcceptance } from '../../core/answers.js';
import { isNumber, isText, objectOf } from '../../core/guards.js';
import { backOffMs, isRetried } from '../../shared/retry.js';
import { ServiceError } from '../../shared/service-error.js';
import type { BrowserStore } from './browser-store.js';
import { type Answer, errorOf, type Service } from './service.js';

const PATH = '/tool/v1/consents';
const QUEUE = 'queue:';
const RECORD = 'record:';
const NOT_BEFORE = 'not-before';
const MOST_RECORDS = 50;
/** Attempts in a row without success, until the page comes back online, is shown again or is opened again. */
const MOST_ATTEMPTS = 8;
/** A longer wait is left to a later page. */
const LONGEST_WAIT_MS = 300_000;
const HOUR_MS = 3_600_000;

/** A consent that waits for the service's answer. */
export interface QueuedConsent {
  readonly idempotency_key: string;
  /** The exact text that every attempt sends. */
  readonly body: string;
  readonly queued_at: number;
}

/** A consent that the service accepted, with its promise. */
export interface KeptRecord extends Acceptance {
  readonly idempotency_key: string;
}

const isQueued = objectOf<QueuedConsent>({ idempotency_key: isText, body: isText, queued_at: isNumber });
const isKeyed = objectOf<{ idempotency_key: string }>({ idempotency_key: isText });
const isKept = (value: unknown): value is KeptRecord => isAcceptance(value) && isKeyed(value);
const isAccepted = objectOf<{ data: Acceptance }>({ data: isAcceptance });

interface Waiter {
  resolve(acceptance: Acceptance): void;
  reject(error: ServiceError): void;
}

export interface OutboxOptions {
  readonly store: BrowserStore;
  readonly service: Service;
  /** Whether the document version of a consent is still active, by a configuration that is read anew. */
  readonly isStillActive: (consent: QueuedConsent) => Promise<boolean>;
  readonly onAccepted: (consent: QueuedConsent, acceptance: Acceptance) => void;
  /** The service will never accept this consent as it is. */
  readonly onRefused: (consent: QueuedConsent, error: ServiceError) => void;
}

/**
 * Consents on their way to the service, in the order of the visitor's actions. They are kept in the
 * browser before they are sent, so that they survive a page that is left and a network that is away.
 * The service accepts each once, because every attempt has the same `idempotency_key`.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #waiters = new Map<string, Waiter>();
  #attempts = 0;
  #isRunning = false;
  #isStopped = false;
  #wake: () => void = () => undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /**
   * Queues a consent and starts sending.
   * @returns the service's answer, whenever it comes
   */
  add(idempotencyKey: string, body: string): Promise<Acceptance> {
    // After what other tabs queued, also within the same millisecond and after the clock was set back.
    const newest = this.queued().at(-1)?.queued_at ?? 0;
    const queuedAt = Math.max(Date.now(), newest + 1);
    const consent: QueuedConsent = { idempotency_key: idempotencyKey, body, queued_at: queuedAt };
    this.#options.store.write(QUEUE + queuedAt.toString().padStart(16, '0') + idempotencyKey, consent);
    const answered = new Promise<Acceptance>((resolve, reject) =>
      this.#waiters.set(idempotencyKey, { resolve, reject }),
    );
    // A page that does not use the promise learns of refusals from the state.
    answered.catch(() => undefined);
    this.flush();
    return answered;
  }

  /** Consents that wait for an answer, oldest first. */
  queued(): readonly QueuedConsent[] {
    return this.#names().flatMap((name) => this.#options.store.read(name, isQueued) ?? []);
  }

  /** The newest accepted consents of this browser, oldest first. */
  records(): readonly KeptRecord[] {
    return this.#options.store
      .names(RECORD)
      .flatMap((name) => this.#options.store.read(name, isKept) ?? [])
      .sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
  }

  /** Sends what waits. Attempts begin anew. */
  flush(): void {
    this.#attempts = 0;
    this.#wake();
    if (this.#isRunning || this.#isStopped) return;
    this.#isRunning = true;
    this.#run().then((isEmpty) => {
      this.#isRunning = false;
      // A consent that was added while the last look found nothing.
      if (isEmpty && this.#names().length > 0) this.flush();
    });
  }

  /** Ends sending; consents stay queued for a later page. */
  stop(): void {
    this.#isStopped = true;
    this.#wake();
  }

  /** @returns whether the queue is empty */
  async #run(): Promise<boolean> {
    while (!this.#isStopped) {
      const waitMs = await this.#locked(() => this.#sendFirst());
      if (waitMs === null) {
        this.#settleOthers();
        return true;
      }
      if (waitMs > LONGEST_WAIT_MS || this.#attempts >= MOST_ATTEMPTS) return false;
      if (waitMs > 0) await this.#wait(waitMs);
    }
    return false;
  }

  /** One tab sends at a time. Between attempts the others may. */
  async #locked<T>(action: () => Promise<T>): Promise<T> {
    // Absent in browsers before 2022, and refused in a sandboxed frame, which shares no queue with
    // other tabs. The idempotency key then prevents second records.
    const locks: LockManager | undefined = navigator.locks;
    let isBegun = false;
    const begin = () => {
      isBegun = true;
      return action();
    };
    if (locks === undefined) return begin();
    try {
      return await locks.request('_svc_consent', begin);
    } catch (error) {
      if (isBegun) throw error;
      return begin();
    }
  }

  /** @returns milliseconds until the next attempt; null if nothing waits */
  async #sendFirst(): Promise<number | null> {
    const { store, service } = this.#options;
    const [name] = this.#names();
    if (name === undefined) return null;
    const consent = store.read(name, isQueued);
    if (consent === undefined) {
      store.remove(name);
      return 0;
    }
    const notBefore = store.read(NOT_BEFORE, isNumber) ?? 0;
    // Bounded, because the clock may have been set back.
    const stated = Math.min(notBefore - Date.now(), HOUR_MS);
    if (stated > 0) return stated;
    const answer = await service.post(PATH, consent.body);
    if (isAccepted(answer.body) && answer.status < 300) {
      this.#accept(name, consent, answer.body.data);
      return 0;
    }
    return this.#failed(name, consent, answer);
  }

  #accept(name: string, consent: QueuedConsent, acceptance: Acceptance): void {
    const { store, onAccepted } = this.#options;
    this.#attempts = 0;
    store.write(RECORD + acceptance.consent_token, { ...acceptance, idempotency_key: consent.idempotency_key });
    store.remove(name);
    for (const { consent_token } of this.records().slice(0, -MOST_RECORDS)) store.remove(RECORD + consent_token);
    onAccepted(consent, acceptance);
    this.#settle(consent.idempotency_key, ({ resolve }) => resolve(acceptance));
  }

  async #failed(name: string, consent: QueuedConsent, answer: Answer): Promise<number> {
    const { store, service, isStillActive, onRefused } = this.#options;
    const error = errorOf(answer);
    this.#attempts += 1;
    const backOff = backOffMs(this.#attempts, Math.random());
    if (answer.status === 0 || isRetried(answer.status)) {
      if (answer.retryAfterMs === null) return backOff;
      store.write(NOT_BEFORE, Date.now() + answer.retryAfterMs);
      return answer.retryAfterMs;
    }
    if (this.#attempts < MOST_ATTEMPTS) {
      // Signed again with the right time, or with a new nonce, it is another request.
      if (error.code === 'TIMESTAMP_EXPIRED')
        return service.readClock().then(
          () => 0,
          () => backOff,
        );
      if (error.code === 'NONCE_REPLAYED') return 0;
      if (error.code === 'CONFIG_OUTDATED') {
        const isActive = await isStillActive(consent).catch(() => null);
        if (isActive !== false) return backOff;
      }
    }
    this.#attempts = 0;
    store.remove(name);
    onRefused(consent, error);
    this.#settle(consent.idempotency_key, ({ reject }) => reject(error));
    return 0;
  }

  /** Another tab sent these. */
  #settleOthers(): void {
    if (this.#names().length > 0) return;
    const records = this.records();
    for (const key of [...this.#waiters.keys()]) {
      const record = records.find(({ idempotency_key }) => idempotency_key === key);
      const lost = new ServiceError('Refused in another tab.', 'REFUSED_ELSEWHERE', 0);
      this.#settle(key, ({ resolve, reject }) => (record === undefined ? reject(lost) : resolve(record)));
    }
  }

  #settle(key: string, settle: (waiter: Waiter) => void): void {
    const waiter = this.#waiters.get(key);
    this.#waiters.delete(key);
    if (waiter !== undefined) settle(waiter);
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #names(): readonly string[] {
    return this.#options.store.names(QUEUE);
  }
}
