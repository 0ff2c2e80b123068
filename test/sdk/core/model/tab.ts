import type { Configuration } from '../../../../sdk/core/answers.js';
import { ConsentPage } from '../../../../sdk/core/consent-page.js';
import { CookieJar } from '../../../../sdk/core/cookie-jar.js';
import { PageStore } from '../../../../sdk/core/page-store.js';
import { isOld, recordedAs, sentOf } from '../../../../sdk/core/queue.js';
import type { ModelBrowser } from './browser.js';
import type { Fate, ModelService } from './service.js';

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
  /** Whether the page was told that the browser does not keep what it knows. */
  isTold = false;
  readonly #options: TabOptions;

  constructor(options: TabOptions) {
    const { browser, host, path, domain, now, random, isSignalled } = options;
    this.#options = options;
    this.host = host;
    this.domain = domain;
    const address = { protocol: 'https:', hostname: host, pathname: path };
    this.page = new ConsentPage({
      jar: new CookieJar(browser.page(address), address, domain),
      store: new PageStore(browser.storageOf(host)),
      now,
      random,
      isSignalled,
      ownVisitor: undefined,
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
    const acceptance = known ?? answer?.acceptance;
    if (acceptance !== undefined) {
      queue.accept(item, acceptance);
      this.page.handle({ type: 'accepted', key: item.idempotency_key, at: item.queued_at, consentType, acceptance });
    } else if (answer !== undefined && queue.fail(item, answer, 'VALIDATION_ERROR', now()) === 'refused') {
      queue.drop(item);
      this.page.handle({
        type: 'refused',
        key: item.idempotency_key,
        at: item.queued_at,
        consentType,
        isOutdated: false,
      });
    }
    return true;
  }
}
