import type { ModelBrowser } from '../../../../sdk/conformance/src/browser.js';
import type { Fate, ModelService } from '../../../../sdk/conformance/src/service.js';
import type { Configuration } from '../../../../sdk/core/answers.js';
import { ConsentPage } from '../../../../sdk/core/consent-page.js';
import { CookieJar } from '../../../../sdk/core/cookie-jar.js';
import { PageStore } from '../../../../sdk/core/page-store.js';
import { isOld, recordedAs, sentOf, streamOf } from '../../../../sdk/core/queue.js';

/** Faults of its own after which a consent lets the others pass. */
const MOST_FAULTS = 3;

export interface TabOptions {
  readonly browser: ModelBrowser;
  readonly service: ModelService;
  readonly host: string;
  readonly path: string;
  readonly domain: string | undefined;
  /** Unix milliseconds of the visitor's clock. */
  readonly now: () => number;
  readonly random: () => string;
  readonly isSignalled: () => boolean;
  readonly configuration: Configuration;
}

/** A page of the site in a tab: the core with its ports, and the sender of the browser SDK without its waiting. */
export class Tab {
  readonly page: ConsentPage;
  readonly host: string;
  readonly domain: string | undefined;
  readonly configuration: Configuration;
  /** Whether the page was told that the browser does not keep what it knows. */
  isTold = false;
  /** By key: failures since sending began that are of this consent. */
  readonly #faults = new Map<string, number>();
  readonly #options: TabOptions;

  constructor(options: TabOptions) {
    const { browser, host, path, domain, now, random, isSignalled } = options;
    this.#options = options;
    this.host = host;
    this.domain = domain;
    this.configuration = options.configuration;
    const address = { protocol: 'https:', hostname: host, pathname: path };
    this.page = new ConsentPage({
      jar: new CookieJar(browser.page(address), address, domain),
      store: new PageStore(browser.storageOf(host)),
      now,
      random,
      isSignalled,
      ownVisitor: undefined,
      noticeOf: () => (_, isConflict) => ({
        notice: { text: isConflict ? 'Honored, in place of a choice' : 'Honored', language: 'en', version: 1 },
      }),
      onNotKept: () => {
        this.isTold = true;
      },
      onGivenUp: () => undefined,
    });
    this.page.handle({ type: 'looked' });
    this.page.handle({ type: 'configured', configuration: options.configuration });
  }

  /** Sends what may be sent now, each stream up to some attempts. */
  send(fates: readonly Fate[]): void {
    this.page.queue.begin();
    this.#faults.clear();
    for (const stream of this.page.queue.streams()) {
      for (const fate of fates) if (!this.#move(stream, fate)) break;
    }
  }

  /** @returns whether there was something to send */
  #move(stream: string, fate: Fate): boolean {
    const { now, service } = this.#options;
    const { queue } = this.page;
    this.page.handle({ type: 'looked' });
    // The sender waits; here, what it waits for has come.
    const move = queue.next(stream, now() + 3_600_000);
    if (move === null || !('send' in move)) return false;
    const item = move.send;
    const { idempotency_key: key, queued_at: at } = item;
    this.#checkPassing(stream, key);
    const sent = sentOf(item);
    const consentType = sent?.consent_type ?? '';
    const record = queue.recordOf(item);
    if (record === undefined && isOld(item, now()) && fate === 'away') {
      queue.wait(item, now(), null);
      return true;
    }
    const status = service.status(sent?.visitor_id ?? '', sent?.consent_type ?? '');
    const known = record ?? (isOld(item, now()) ? recordedAs(item, status, queue.records()) : null);
    const answer = known === null ? service.post(item.body, fate) : undefined;
    if (answer?.status === 500) this.#faults.set(key, (this.#faults.get(key) ?? 0) + 1);
    const acceptance = known ?? answer?.acceptance;
    if (acceptance !== undefined) {
      for (const { idempotency_key: passed } of queue.accept(item, acceptance)) {
        if ((this.#faults.get(passed) ?? 0) < MOST_FAULTS) throw new Error('a choice was passed without a reason');
        service.passed.add(passed);
      }
      this.page.handle({ type: 'accepted', key, at, consentType, acceptance });
      service.answered.add(key);
    } else if (answer !== undefined && queue.fail(item, answer, 'VALIDATION_ERROR', now()) === 'refused') {
      queue.drop(item);
      this.page.handle({ type: 'refused', key, at, consentType, isOutdated: false });
      service.answered.add(key);
    }
    return true;
  }

  /** One that keeps failing by itself lets the others of its stream pass. */
  #checkPassing(stream: string, key: string): void {
    const faultsOf = (one: string): number => this.#faults.get(one) ?? 0;
    if (faultsOf(key) < MOST_FAULTS) return;
    const others = this.page.queue.items().filter((item) => streamOf(item) === stream);
    if (others.some(({ idempotency_key }) => faultsOf(idempotency_key) < MOST_FAULTS))
      throw new Error('a consent that keeps failing lets none pass');
  }
}
