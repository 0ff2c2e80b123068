import { ServiceError } from '../shared/service-error.js';
import { type Acceptance, isAcceptance } from './answers.js';
import type { ConsentPage } from './consent-page.js';
import { objectOf } from './guards.js';
import type { Surroundings } from './ports.js';
import { isOld, isStatus, type QueuedConsent, recordedAs, sentOf } from './queue.js';
import { errorOf, isPassing, NO_ANSWER, type Service } from './service.js';

const PATH = '/tool/v1/consents';

const isAccepted = objectOf<{ data: Acceptance }>({ data: isAcceptance });

interface Waiter {
  resolve(acceptance: Acceptance): void;
  reject(error: ServiceError): void;
}

export interface OutboxOptions extends Pick<Surroundings, 'clock' | 'locked'> {
  readonly page: ConsentPage;
  readonly service: Service;
  /** Completes a body for the moment in which it is sent; null if it cannot be sent now. */
  readonly vouched?: ((body: string) => Promise<string | null>) | undefined;
  /** Whether the document version of a consent is still active, by a freshly read configuration. */
  readonly isStillActive: (consent: QueuedConsent) => Promise<boolean>;
  /** Called before a consent is sent. */
  readonly onMove: () => void;
  readonly onAccepted: (consent: QueuedConsent, acceptance: Acceptance) => void;
  /** Called when the service will never accept this consent as it is. */
  readonly onRefused: (consent: QueuedConsent, error: ServiceError) => void;
}

/** Sends the queued consents: each stream by itself, in its order, one tab at a time. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #waiters = new Map<string, Waiter>();
  readonly #running = new Set<string>();
  readonly #wakes = new Set<() => void>();
  #flushes = 0;
  #isStopped = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** @returns the service's answer to a queued consent, whenever it comes */
  answerTo(key: string): Promise<Acceptance> {
    const answered = new Promise<Acceptance>((resolve, reject) => this.#waiters.set(key, { resolve, reject }));
    // A page that does not use the promise learns of refusals from the state.
    answered.catch(() => undefined);
    return answered;
  }

  /** Sends the queued consents, and forgets earlier failed attempts. */
  flush(): void {
    const { queue } = this.#options.page;
    queue.begin();
    this.#flushes += 1;
    for (const wake of this.#wakes) wake();
    if (this.#isStopped) return;
    for (const stream of queue.streams()) {
      if (!this.#running.has(stream)) this.#run(stream);
    }
  }

  /** Ends sending; consents stay queued for a later page, which learns of an answer that is on its way. */
  stop(): void {
    this.#isStopped = true;
    this.flush();
  }

  async #run(stream: string): Promise<void> {
    this.#running.add(stream);
    try {
      for (let waitMs: number | null = 0; !this.#isStopped; ) {
        const flushes = this.#flushes;
        waitMs = await this.#options.locked(stream, () => this.#move(stream));
        // A consent may have been queued after the queue was read as empty.
        if (waitMs === null && flushes === this.#flushes) return;
        if (waitMs !== null && waitMs > 0) await this.#wait(waitMs);
      }
    } finally {
      this.#running.delete(stream);
    }
  }

  /** @returns milliseconds until the next move, or null if there is none */
  async #move(stream: string): Promise<number | null> {
    const { page, service, clock, vouched, onMove, onRefused } = this.#options;
    onMove();
    const move = page.queue.next(stream, clock());
    if (move === null) return null;
    if (!('send' in move)) return move.waitMs;
    const consent = move.send;
    const known = page.queue.recordOf(consent) ?? (isOld(consent, clock()) ? await this.#askStatus(consent) : null);
    if (known !== null) {
      if (known === 'later') page.queue.wait(consent, clock(), null);
      else this.#accept(consent, known);
      return 0;
    }
    const body = await (vouched?.(consent.body) ?? consent.body);
    const answer = body === null ? NO_ANSWER : await service.post(PATH, body);
    if (answer.status < 300 && isAccepted(answer.body)) {
      this.#accept(consent, answer.body.data);
      return 0;
    }
    const error = errorOf(answer);
    const verdict = page.queue.fail(consent, answer, error.code, clock());
    if (verdict === 'clock' && !(await service.readClock())) page.queue.wait(consent, clock(), null);
    const isRefused =
      verdict === 'outdated' ? !(await this.#options.isStillActive(consent).catch(() => true)) : verdict === 'refused';
    if (isRefused) {
      page.queue.drop(consent);
      if (!this.#isStopped) onRefused(consent, error);
      this.#take(consent)?.reject(error);
    }
    return 0;
  }

  /** The record of a consent whose answer may have been lost longer ago than keys are remembered. */
  async #askStatus(consent: QueuedConsent): Promise<Acceptance | 'later' | null> {
    const { page, service } = this.#options;
    const { visitor_id, consent_type = '', document_version_id = '' } = sentOf(consent) ?? {};
    if (visitor_id === undefined) return null;
    const query = Object.entries({ visitor_id, consent_type, document_version_id }).map(
      ([name, value]) => `${name}=${encodeURIComponent(value)}`,
    );
    try {
      const { consents } = await service.get(`${PATH}/status?${query.join('&')}`, isStatus);
      return recordedAs(consent, consents, page.queue.records());
    } catch (error) {
      // A service that refuses the question may still accept the consent.
      return error instanceof ServiceError && !isPassing(error) ? null : 'later';
    }
  }

  #accept(consent: QueuedConsent, acceptance: Acceptance): void {
    const { page, onAccepted } = this.#options;
    for (const passed of page.queue.accept(consent, acceptance)) this.giveUp(passed);
    if (!this.#isStopped) onAccepted(consent, acceptance);
    this.#take(consent)?.resolve(acceptance);
  }

  /** Ends the wait for the answer to a consent that will not be recorded. */
  giveUp(consent: QueuedConsent): void {
    const error = new ServiceError('A later choice counts.', 'SUPERSEDED', 0);
    this.#take(consent)?.reject(error);
  }

  /** Removes and returns the waiter for the answer to a consent. A consent is answered once. */
  #take({ idempotency_key: key }: QueuedConsent): Waiter | undefined {
    const waiter = this.#waiters.get(key);
    this.#waiters.delete(key);
    return waiter;
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#wakes.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#wakes.add(wake);
    });
  }
}
