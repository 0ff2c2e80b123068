import { matchLanguage } from '../../../schemas/language/match-language.js';
import {
  type Acceptance,
  type Configuration,
  isConfiguration,
  isShownDocument,
  type ShownDocument,
} from '../../core/answers.js';
import {
  allCategories,
  type Categories,
  type Choice,
  completeCategories,
  cookiePolicyOf,
  decisionOf,
  isInForce,
  validUntil,
} from '../../core/choice.js';
import { isNumber, isText, objectOf, optional, parseJson } from '../../core/guards.js';
import { isRetried } from '../../shared/retry.js';
import { ServiceError } from '../../shared/service-error.js';
import type { BrowserConsent } from '../../shared/types.js';
import { BrowserStore } from './browser-store.js';
import { readCookie, writeCookie } from './cookie.js';
import type { ConsentOptions } from './options.js';
import { type KeptRecord, Outbox, type QueuedConsent } from './outbox.js';
import { randomHex, Service } from './service.js';

/**
 * - `loading`: the configuration is being read.
 * - `needed`: the visitor has not chosen, or must choose again.
 * - `signalled`: the visitor has not chosen, and the browser sends Global Privacy Control, which
 *   refuses. The site does not ask.
 * - `chosen`: a choice is in force.
 * - `unavailable`: no choice can be recorded; `error` states why. Nothing optional is permitted.
 */
export type ConsentStatus = 'loading' | 'needed' | 'signalled' | 'chosen' | 'unavailable';

export interface ConsentState {
  readonly status: ConsentStatus;
  /** What the site asks; null until it is known. */
  readonly configuration: Configuration | null;
  /** The choice in force; null without one. */
  readonly choice: Choice | null;
  /** The last failure; null without one. */
  readonly error: ServiceError | null;
}

/** Further fields of a document approval, beside those that the SDK fills in. */
export type ApprovalFields = Omit<
  BrowserConsent,
  'consent_type' | 'document_version_id' | 'language' | 'idempotency_key'
>;

type Framework = NonNullable<BrowserConsent['compliance_framework']>;
const FRAMEWORKS: readonly Framework[] = [
  'kvkk',
  'gdpr',
  'uk_gdpr',
  'ccpa',
  'lgpd',
  'popia',
  'pipeda',
  'pipl',
  'pipa',
  'none',
];

interface CachedConfiguration {
  readonly apiKey: string;
  readonly baseUrl: string;
  /** Unix milliseconds. */
  readonly readAt: number;
  readonly configuration: Configuration;
}
const isCached = objectOf<CachedConfiguration>({
  apiKey: isText,
  baseUrl: isText,
  readAt: isNumber,
  configuration: isConfiguration,
});
const isLanguageBody = objectOf<{ document_version_id: string; language?: string | undefined }>({
  document_version_id: isText,
  language: optional(isText),
});

const DEFAULT_MAX_AGE_SECONDS = 300;

/**
 * The consent of one visitor at one site, without a user interface. Create one for each page, and
 * call `start`.
 */
export class Consent {
  /** Fields that the service warned of. */
  readonly #warned = new Set<string>();
  readonly #options: ConsentOptions;
  readonly #store = new BrowserStore();
  readonly #service: Service;
  readonly #outbox: Outbox;
  readonly #listeners = new Set<(state: ConsentState) => void>();
  readonly #ended = new AbortController();
  #state: ConsentState = { status: 'loading', configuration: null, choice: null, error: null };
  #started: Promise<ConsentState> | undefined;

  constructor(options: ConsentOptions) {
    this.#options = options;
    this.#service = new Service(options.baseUrl, options.apiKey);
    this.#outbox = new Outbox({
      store: this.#store,
      service: this.#service,
      isStillActive: (consent) => this.#isStillActive(consent),
      onAccepted: (consent, acceptance) => this.#onAccepted(consent, acceptance),
      onRefused: (consent, error) => this.#onRefused(consent, error),
    });
  }

  get state(): ConsentState {
    return this.#state;
  }

  /** Whether the browser sends Global Privacy Control. */
  get isGpcOn(): boolean {
    return 'globalPrivacyControl' in navigator && navigator.globalPrivacyControl === true;
  }

  /** Calls a listener with the state now and after every change. A later error of it is reported to the page. @returns a function that ends this */
  subscribe(listener: (state: ConsentState) => void): () => void {
    this.#listeners.add(listener);
    listener(this.#state);
    return () => this.#listeners.delete(listener);
  }

  /** Whether the visitor permits a category. Before the configuration is known, only an earlier choice does. */
  allows(category: string): boolean {
    const { choice, configuration } = this.#state;
    return (
      choice?.categories[category] === true ||
      (configuration?.categories.some(({ key, required }) => required && key === category) ?? false)
    );
  }

  /**
   * Reads the earlier choice and the configuration, and sends what is still queued.
   * @returns the first state that is not `loading`
   */
  start(): Promise<ConsentState> {
    this.#started ??= this.#start();
    return this.#started;
  }

  /** Ends sending and listening. Queued consents are sent by a later page. */
  stop(): void {
    this.#ended.abort();
    this.#outbox.stop();
    this.#listeners.clear();
  }

  /**
   * Records the visitor's choice, which is in force at once. Required categories are on.
   * @param chosen the optional categories that the visitor permits
   * @returns the service's answer, whenever it comes
   * @throws ServiceError `UNAVAILABLE` before the configuration is known
   */
  choose(chosen: Categories): Promise<Acceptance> {
    const configuration = this.#configuration();
    const { version } = this.#cookiePolicy(configuration);
    const categories = completeCategories(configuration, chosen);
    const decision = decisionOf(configuration, categories, readCookie());
    const choice: Choice = { decision, categories, document_version_id: version.id, language: version.language };
    writeCookie(choice, configuration.validity_days, this.#options.cookieDomain);
    const answered = this.#record({
      consent_type: 'cookie',
      decision,
      document_version_id: version.id,
      language: version.language,
      categories,
    });
    this.#change({ status: 'chosen', choice, error: null });
    return answered;
  }

  /** Permits every category. @throws as `choose` */
  acceptAll(): Promise<Acceptance> {
    return this.choose(allCategories(this.#configuration(), true));
  }

  /** Refuses every optional category; withdraws those that were permitted. @throws as `choose` */
  rejectAll(): Promise<Acceptance> {
    return this.choose({});
  }

  /**
   * Records that the visitor opts out of the sale and sharing of personal data, or takes that back.
   * It refers to the site's `do_not_sell` document, else to the cookie policy.
   * @throws as `choose`
   */
  optOutOfSale(isOptedOut = true): Promise<Acceptance> {
    const configuration = this.#configuration();
    const notice = configuration.documents.find(({ kind }) => kind === 'do_not_sell');
    const { version } = notice ?? this.#cookiePolicy(configuration);
    return this.#record({
      consent_type: 'do_not_sell_opt_out',
      decision: isOptedOut ? 'accepted' : 'withdrawn',
      document_version_id: version.id,
      language: version.language,
    });
  }

  /**
   * Reads the active version of a document with its text, which the page shows before it asks.
   * @throws ServiceError
   */
  document(slug: string): Promise<ShownDocument> {
    const language = this.#state.configuration?.language ?? this.#wantedLanguage();
    return this.#service.get(
      `/tool/v1/documents/${encodeURIComponent(slug)}/active${languageQuery(language)}`,
      isShownDocument,
    );
  }

  /**
   * Records the visitor's decision on a document that was shown.
   * @param fields `decision`, and signer and signature if the site asks for them; `approval_token` is
   *   the option `approvalToken` if absent
   */
  approve({ version }: ShownDocument, fields: ApprovalFields): Promise<Acceptance> {
    const token = this.#options.approvalToken;
    return this.#record({
      ...(token !== undefined && { approval_token: token }),
      ...fields,
      consent_type: 'document_approval',
      document_version_id: version.id,
      language: version.language,
    });
  }

  /** Shows the texts in another language of the site. @throws ServiceError */
  async setLanguage(language: string): Promise<void> {
    this.#change({ configuration: await this.#readConfiguration(language), error: null });
  }

  /** The language of the page or of the option; undefined: as the browser asks. */
  get preferredLanguage(): string | undefined {
    return this.#wantedLanguage();
  }

  /** The language of a configuration that suits the page and the browser best; the one that it is in if none does. */
  readLanguage({ language, languages }: Configuration): string {
    return matchLanguage(languages, [this.#wantedLanguage() ?? '', ...navigator.languages]) ?? language;
  }

  /**
   * Page of the service on which the visitor looks up the choice and keeps its receipt; null until
   * the service has accepted the choice.
   */
  get proofPage(): string | null {
    const token = this.#state.choice?.consent_token;
    return token === undefined ? null : new URL(`/verify#${token}`, this.#options.baseUrl).href;
  }

  /** Accepted consents of this browser with their promises, oldest first, at most 50. */
  records(): readonly KeptRecord[] {
    return this.#outbox.records();
  }

  /** Consents that wait for the service's answer, oldest first. */
  queued(): readonly QueuedConsent[] {
    return this.#outbox.queued();
  }

  async #start(): Promise<ConsentState> {
    // Without a secure context there is no WebCrypto, so that no request can be signed.
    if (globalThis.crypto?.subtle === undefined) {
      const message = 'Consents are recorded on secure pages (https) only.';
      return this.#change({ status: 'unavailable', error: new ServiceError(message, 'INSECURE_CONTEXT', 0) });
    }
    this.#listen();
    return this.#load();
  }

  async #load(): Promise<ConsentState> {
    const choice = readCookie();
    const cached = this.#cachedConfiguration(choice?.language ?? this.#wantedLanguage());
    // What this browser knows is used at once; scripts do not wait for the network.
    if (cached !== undefined && choice !== null && isInForce(choice, cached.configuration))
      this.#change({ status: 'chosen', configuration: cached.configuration, choice });
    try {
      this.#settle(await this.#toShow(choice));
      if (this.#state.error?.code === 'NO_ANSWER') this.#change({ error: null });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.#change({ status: 'unavailable', choice: null, error });
    }
    this.#honourSignal();
    this.#outbox.flush();
    return this.#state;
  }

  /** The configuration in the language of the choice, to check it; of the page, if the visitor must choose again. */
  async #toShow(choice: Choice | null): Promise<Configuration> {
    const wanted = this.#wantedLanguage();
    const configuration = await this.#configurationIn(choice?.language ?? wanted);
    const isOther = this.readLanguage(configuration) !== configuration.language;
    return choice !== null && isOther && !isInForce(choice, configuration)
      ? this.#configurationIn(wanted)
      : configuration;
  }

  /**
   * The configuration as it was read lately, else anew. Offline, the visitor chooses by the texts
   * that were read before; the service refuses a choice by outdated ones.
   */
  async #configurationIn(language: string | undefined): Promise<Configuration> {
    const cached = this.#cachedConfiguration(language);
    if (cached?.isFresh === true) return cached.configuration;
    try {
      return await this.#readConfiguration(language);
    } catch (error) {
      const isAway = error instanceof ServiceError && (error.status === 0 || isRetried(error.status));
      if (isAway && cached !== undefined) return cached.configuration;
      throw error;
    }
  }

  #listen(): void {
    const { signal } = this.#ended;
    const resume = (): void => {
      if (document.visibilityState !== 'visible') return;
      this.#outbox.flush();
      this.#followOtherTabs();
      // The page was opened without a network.
      if (this.#state.status === 'unavailable' && this.#state.error?.code === 'NO_ANSWER') this.#load();
    };
    addEventListener('online', resume, { signal });
    // A page that the browser had kept in memory.
    addEventListener('pageshow', ({ persisted }) => persisted && resume(), { signal });
    document.addEventListener('visibilitychange', resume, { signal });
  }

  /** Another tab may have changed the choice. */
  #followOtherTabs(): void {
    const { configuration, choice } = this.#state;
    const kept = readCookie();
    if (configuration === null || JSON.stringify(kept) === JSON.stringify(choice)) return;
    if (kept?.language === configuration.language || kept === null) this.#settle(configuration);
    else this.#change({ choice: kept, status: 'chosen' });
  }

  /** @param configuration in the language of the choice, if there is one */
  #settle(configuration: Configuration): void {
    if (cookiePolicyOf(configuration) === undefined) {
      const error = new ServiceError('The site has no active cookie policy.', 'UNAVAILABLE', 0);
      this.#change({ status: 'unavailable', configuration, choice: null, error });
      return;
    }
    const kept = readCookie();
    const choice = kept !== null && isInForce(kept, configuration) ? kept : null;
    const asks = this.isGpcOn ? 'signalled' : 'needed';
    this.#change({ status: choice === null ? asks : 'chosen', configuration, choice });
  }

  /** In California the signal is an opt-out by law (CCPA regulations, §7025), which is recorded once. */
  #honourSignal(): void {
    const { status, configuration } = this.#state;
    if (!this.isGpcOn || configuration?.region.compliance_framework !== 'ccpa' || status === 'unavailable') return;
    if (this.#store.read('gpc', isText) !== undefined) return;
    this.#store.write('gpc', new Date(this.#service.now()).toISOString());
    this.optOutOfSale();
  }

  #record(consent: BrowserConsent): Promise<Acceptance> {
    const { region } = this.#configuration();
    const framework = FRAMEWORKS.find((name) => name === region.compliance_framework);
    const key = randomHex(16);
    const body: BrowserConsent = {
      source: 'client',
      // The token names the person; another reference would contradict it.
      visitor_id: consent.approval_token == null ? this.#visitorId() : this.#options.visitorId,
      ...(region.country !== null && { visitor_country: region.country }),
      ...(framework !== undefined && { compliance_framework: framework }),
      ...consent,
      metadata: {
        ...consent.metadata,
        // The record states when it was accepted. A choice made offline was made earlier.
        chosen_at: new Date(this.#service.now()).toISOString(),
        ...(this.isGpcOn && { gpc: true }),
      },
      idempotency_key: key,
    };
    return this.#outbox.add(key, JSON.stringify(body));
  }

  #visitorId(): string {
    if (this.#options.visitorId !== undefined) return this.#options.visitorId;
    const known = this.#store.read('visitor', isText);
    if (known !== undefined) return known;
    const made = randomHex(16);
    this.#store.write('visitor', made);
    return made;
  }

  #onAccepted({ body }: QueuedConsent, { consent_token, proof_hash, created_at, warnings }: Acceptance): void {
    this.#warn(warnings);
    const { configuration } = this.#state;
    const kept = readCookie();
    const sent = parseJson(body, isCookieConsent);
    // A choice that was changed meanwhile has a consent of its own in the queue.
    const isKept =
      sent?.consent_type === 'cookie' && JSON.stringify(sent.categories) === JSON.stringify(kept?.categories);
    if (!isKept || kept === null || configuration === null || this.#hasNewerChoice()) {
      this.#change({ error: null });
      return;
    }
    const confirmed: Choice = {
      ...kept,
      consent_token,
      proof_hash,
      created_at,
      valid_until: validUntil(created_at, configuration),
    };
    writeCookie(confirmed, configuration.validity_days, this.#options.cookieDomain);
    this.#change({ choice: confirmed, error: null });
  }

  #warn(warnings: Acceptance['warnings'] = []): void {
    for (const { field, message } of warnings) {
      // For the developer of the page, to whom one line is enough.
      if (!this.#warned.has(field)) console.warn(`Consent Ledger: ${field}: ${message}`);
      this.#warned.add(field);
    }
  }

  #hasNewerChoice(): boolean {
    return this.queued().some(({ body }) => parseJson(body, isCookieConsent)?.consent_type === 'cookie');
  }

  #onRefused({ body }: QueuedConsent, error: ServiceError): void {
    console.error(`Consent Ledger: not recorded: ${error.code}: ${error.message}`);
    const type = parseJson(body, isCookieConsent)?.consent_type;
    if (type === 'do_not_sell_opt_out') this.#store.remove('gpc');
    if (type !== 'cookie' || this.#hasNewerChoice()) {
      this.#change({ error });
      return;
    }
    // What is not recorded is not relied on.
    writeCookie(null, null, this.#options.cookieDomain);
    if (error.code === 'CONFIG_OUTDATED' && this.#state.configuration !== null) {
      this.#change({ error });
      this.#settle(this.#state.configuration);
    } else this.#change({ status: 'unavailable', choice: null, error });
  }

  /** Re-reads the configuration (specification, `CONFIG_OUTDATED`). */
  async #isStillActive({ body }: QueuedConsent): Promise<boolean> {
    const sent = parseJson(body, isLanguageBody);
    if (sent === undefined) return false;
    const configuration = await this.#readConfiguration(sent.language);
    const isActive = configuration.documents.some(({ version }) => version.id === sent.document_version_id);
    if (!isActive) this.#change({ configuration });
    return isActive;
  }

  #wantedLanguage(): string | undefined {
    return this.#options.language ?? (document.documentElement.lang || undefined);
  }

  async #readConfiguration(language: string | undefined): Promise<Configuration> {
    const configuration = await this.#service.get(`/tool/v1/config${languageQuery(language)}`, isConfiguration);
    this.#warn(configuration.warnings);
    const { apiKey, baseUrl } = this.#options;
    const cached: CachedConfiguration = { apiKey, baseUrl, readAt: Date.now(), configuration };
    this.#store.write(`config:${language ?? ''}`, cached);
    return configuration;
  }

  #cachedConfiguration(language: string | undefined): { configuration: Configuration; isFresh: boolean } | undefined {
    const { apiKey, baseUrl, configurationMaxAge = DEFAULT_MAX_AGE_SECONDS } = this.#options;
    const cached = this.#store.read(`config:${language ?? ''}`, isCached);
    if (cached === undefined || cached.apiKey !== apiKey || cached.baseUrl !== baseUrl) return undefined;
    const age = Date.now() - cached.readAt;
    return { configuration: cached.configuration, isFresh: age >= 0 && age < configurationMaxAge * 1000 };
  }

  #configuration(): Configuration {
    const { configuration, error } = this.#state;
    if (configuration !== null) return configuration;
    throw error ?? new ServiceError('No configuration yet: wait for start().', 'UNAVAILABLE', 0);
  }

  #cookiePolicy(configuration: Configuration) {
    const policy = cookiePolicyOf(configuration);
    if (policy === undefined) throw new ServiceError('The site has no active cookie policy.', 'UNAVAILABLE', 0);
    return policy;
  }

  #change(change: Partial<ConsentState>): ConsentState {
    this.#state = { ...this.#state, ...change };
    for (const listener of [...this.#listeners]) {
      try {
        listener(this.#state);
      } catch (error) {
        // A fault of the page must keep no choice from the service, nor from the other listeners.
        reportError(error);
      }
    }
    return this.#state;
  }
}

const isCookieConsent = objectOf<{ consent_type: string; categories?: unknown }>({
  consent_type: isText,
  categories: (value): value is unknown => value === undefined || typeof value === 'object',
});

function languageQuery(language: string | undefined): string {
  return language === undefined ? '' : `?language=${encodeURIComponent(language)}`;
}
