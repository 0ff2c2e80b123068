// biome-ignore-all assist/source/organizeImports: gzip sees 32 KiB back; in this order the bundle for pages is 40 bytes smaller
import type { CoreOptions } from './options.js';
import { type Acceptance, type Configuration, isShownDocument, type ShownDocument } from './answers.js';
import { CHOICE, ConsentPage } from './consent-page.js';
import type { Account, AccountModule, AccountTexts, Person } from './account.js';
import type { Jar, Surroundings } from './ports.js';
import type { ChoiceSignals, IabModule } from './choice-signals.js';
import { isPassing, Service } from './service.js';
import type { BrowserConsent } from '../shared/types.js';
import type { KeptRecord } from './consent-queue.js';
import { optOutOf } from './transitions.js';
import type { Event } from './machine.js';
import { Configurations, languageQuery } from './configurations.js';
import { type Answers, type Categories, completed, cookiePolicyOf, isInForce } from './choice.js';
import { Outbox } from './outbox.js';
import { type QueuedConsent, sentOf } from './queue.js';
import { ServiceError } from '../shared/service-error.js';
import type { ApprovalFields, NoticeOf, Presentation, ShownNotice } from './consent-body.js';
import type { Asked } from './asked.js';
import type { ConsentState } from './consent-state.js';

/** How long a site that sends IAB signals waits for them to load before it asks without them, in milliseconds. */
const LONGEST_WAIT_MS = 5_000;

/**
 * The consent of one visitor at one site, without a user interface: all rules of choice, identity, signal, queue and
 * precedence. An SDK supplies the surroundings of a page or an app, and adds no rules of its own.
 */
export class ConsentCore {
  /** Keys of the warnings that were printed. */
  readonly #said = new Set<string>();
  readonly #options: CoreOptions;
  readonly #surroundings: Surroundings;
  readonly #service: Service;
  readonly #configurations: Configurations;
  #page!: ConsentPage;
  #outbox!: Outbox;
  /** Who is signed in, and the account's choice once it was read. */
  #person: Person | undefined;
  #account: Account | undefined;
  readonly #listeners = new Set<(state: ConsentState) => void>();
  /** Null until the signals are loaded, and if the site sends none. */
  #signals: ChoiceSignals | null = null;
  #isStopped = false;
  #areSettingsOpen = false;
  #noticeOf: NoticeOf | undefined;
  #unwatch: () => void = () => undefined;
  #error: ServiceError | null = null;
  #state: ConsentState = { status: 'loading', configuration: null, choice: null, error: null };
  #started: Promise<ConsentState> | undefined;
  /** A further attempt after a failed one. */
  #loading: Promise<ConsentState> | undefined;

  constructor(options: CoreOptions, surroundings: Surroundings) {
    this.#options = options;
    this.#surroundings = surroundings;
    this.#person = options.person;
    this.#service = new Service(options.baseUrl, options.apiKey, surroundings);
    this.#configurations = new Configurations(surroundings, this.#service, options, (configuration) =>
      this.#warnOf(configuration),
    );
    this.#open();
  }

  /** Opens the choice of an account, or of the device; none while that of an account is read. */
  #open(account?: Account): void {
    const { store, cryptography, clock, locked, notKept } = this.#surroundings;
    const jar: Jar = this.#person
      ? {
          read: (name) => (name === CHOICE && account?.texts()) || [],
          keep: (_, text) => !account || account.replace(text),
        }
      : this.#surroundings.jar;
    const page = new ConsentPage({
      jar,
      store: account?.store ?? store,
      now: () => this.#service.now(),
      random: () => cryptography.random(32),
      isSignalled: () => this.isGpcOn,
      isAccount: !!this.#person,
      ownVisitor: this.#person?.id ?? this.#options.visitorId,
      noticeOf: () => this.#noticeOf,
      onNotKept: () => this.#warn(notKept),
      onGivenUp: (consent) => outbox.giveUp(consent),
    });
    const outbox = new Outbox({
      onMove: () => this.#handle({ type: 'looked' }),
      page,
      clock,
      locked,
      service: this.#service,
      vouched: account?.vouched,
      isStillActive: (consent) => this.#isStillActive(consent),
      onAccepted: (consent, acceptance) => this.#onAccepted(consent, acceptance),
      onRefused: (consent, error) => this.#onRefused(consent, error),
    });
    this.#account = account;
    this.#page = page;
    this.#outbox = outbox;
  }

  get state(): ConsentState {
    return this.#state;
  }

  /** Whether the visitor's browser sends Global Privacy Control, or the app states such a signal. */
  get isGpcOn(): boolean {
    return this.#surroundings.isSignalled();
  }

  /** Whether the visitor has the settings open, where a choice is changed. */
  get areSettingsOpen(): boolean {
    return this.#areSettingsOpen;
  }

  /** States that the settings were opened or closed, which is told to advertisers: by the banner, or by a page with its own. */
  showsSettings(areOpen: boolean): void {
    if (this.#areSettingsOpen === areOpen) return;
    this.#areSettingsOpen = areOpen;
    this.#show();
  }

  /**
   * States that a notice is shown while the browser's signal counts as an opt-out by law: by the banner, or by a page
   * with its own. The record of the signal keeps it. Call it before `start`.
   * @param noticeOf returns the notice; `isConflict` is true if the signal ended what an earlier choice permitted
   */
  showsNotice(noticeOf: NoticeOf): void {
    this.#noticeOf = noticeOf;
  }

  /**
   * The notice that is to be shown now, or undefined if there is none, because the signal does not count or the person
   * chose otherwise.
   */
  get notice(): ShownNotice | undefined {
    return this.#page.notice;
  }

  /**
   * Calls a listener with the state now and after every change. An error of it is reported to the page.
   * @returns a function that stops this
   */
  subscribe(listener: (state: ConsentState) => void): () => void {
    this.#listeners.add(listener);
    this.#tell(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Whether the visitor permits a category. Before the configuration is known, only an earlier choice does. */
  allows(category: string): boolean {
    return this.#page.allows(category);
  }

  /**
   * Whether the visitor permits a service of the site: by its own switch or, without one, by its category. A service that
   * the site does not have is not permitted.
   */
  allowsService(service: string): boolean {
    return this.#page.allows(service, true);
  }

  /**
   * Reads the earlier choice and the configuration, and sends what is still queued.
   * @returns the first state that is not `loading`
   */
  start(): Promise<ConsentState> {
    this.#started ??= this.#start();
    return this.#started;
  }

  /**
   * States who is signed in. Until the account's choice is read, nothing optional is permitted. What the person then
   * decides is the account's choice, for all devices, if the site's configuration has accounts (docs/accounts.md).
   * @param person undefined if nobody is signed in any more
   * @returns the state with the account's choice; or `unavailable` with the `error`, if it cannot be read
   */
  signIn(person: Person | undefined): Promise<ConsentState> {
    this.#outbox.stop();
    this.#person = person;
    this.#open();
    this.#show();
    return this.#started ? this.#load() : this.start();
  }

  /** States that nobody is signed in any more. The device's own choice counts again. */
  signOut(): Promise<ConsentState> {
    return this.signIn(undefined);
  }

  /**
   * What the user interface says of the account's choice: `line` in the first layer and in the settings, `told` at the
   * edge of the page. Undefined or null while nobody is signed in, and until the choice is read.
   */
  get account(): AccountTexts | null | undefined {
    const { configuration } = this.#page.facts;
    return configuration && this.#account?.said(configuration);
  }

  /** Ends sending and listening. Queued consents are sent by a later page. */
  stop(): void {
    this.#isStopped = true;
    this.#unwatch();
    this.#surroundings.renewal?.cancel();
    this.#outbox.stop();
    this.#listeners.clear();
  }

  /**
   * Records the visitor's choice, which is in force at once. Required categories are on.
   * @param chosen the optional categories that the visitor permits
   * @param presentation how the visitor was asked, which the record keeps as a statement of the browser
   * @param services the answers for services, where the site has switches for them. A service that is not named has the
   * answer of its category
   * @returns the service's answer, whenever it comes; undefined if there is nothing to record, because only exempt
   * categories go on
   * @throws ServiceError `UNAVAILABLE` before the configuration is known
   */
  choose(categories: Categories, presentation?: Presentation, services?: Categories): Promise<Acceptance | undefined> {
    const answers = { categories, services };
    if (cookiePolicyOf(this.#configuration()) === undefined) throw noPolicy();
    this.#error = null;
    // The response would restore the choice before this one.
    this.#surroundings.renewal?.cancel();
    // The question is answered, even if its dialog closes a moment later.
    this.#areSettingsOpen = false;
    return this.#record({
      type: 'chose',
      ...answers,
      stated: { presentation, ...this.#strings(answers, this.isOptedOutOfSale) },
    });
  }

  /**
   * The answer that is in force for each category, by a choice or by the rule of the place.
   * @param isAll whether all that waits for consent counts as permitted
   */
  permitted(isAll = false): Categories {
    const { categories } = this.#configuration();
    return Object.fromEntries(
      categories.map(({ key, rule }) => [key, (isAll && rule !== 'exempt') || this.allows(key)]),
    );
  }

  /** Permits every category. An objection to what is exempt from consent stays. @throws as `choose` */
  acceptAll(presentation?: Presentation): Promise<Acceptance | undefined> {
    return this.choose(this.permitted(true), presentation);
  }

  /**
   * Refuses every optional category; withdraws those that were permitted, and objects to those that are exempt from
   * consent. @throws as `choose`
   */
  rejectAll(presentation?: Presentation): Promise<Acceptance | undefined> {
    return this.choose({}, presentation);
  }

  /**
   * Records that the visitor opts out of the sale and sharing of personal data, or takes that back.
   * It refers to the site's `do_not_sell` document, else to the cookie policy.
   * @param presentation how the visitor was asked, as for `choose`
   * @throws as `choose`
   */
  optOutOfSale(isOptedOut = true, presentation?: Presentation): Promise<Acceptance> {
    const consent = optOutOf(this.#configuration(), isOptedOut);
    if (consent === undefined) throw noPolicy();
    const strings = this.#strings(this.#state.choice ?? { categories: {} }, isOptedOut);
    return this.#record({ type: 'recorded', consent: { ...consent, ...strings, presentation } });
  }

  /**
   * Whether the visitor opted out of sale and sharing on this origin, or the browser's signal does so by law and the
   * visitor did not take that back.
   */
  get isOptedOutOfSale(): boolean {
    const { newest, configuration } = this.#page.facts;
    return this.#isUnread || (newest?.opt_out ?? (this.isGpcOn && configuration?.region.signal_is_request === true));
  }

  /** What the question of the choice asked for, as far as this device knows (asked.ts). */
  get asked(): Asked {
    return this.#page.asked;
  }

  /**
   * Time of the newest choice, in Unix milliseconds, if it or the signal of the browser took back what an earlier one
   * permitted. Null otherwise, including when a choice expired or must be made again.
   */
  get withdrawnAt(): number | null {
    return this.#page.withdrawnAt;
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
   * @param fields `decision`, and signer and signature if the site asks for them; if omitted, `approval_token` is the
   * option `approvalToken`
   */
  approve({ version }: ShownDocument, fields: ApprovalFields): Promise<Acceptance> {
    const token = this.#options.approvalToken;
    this.#configuration();
    const consent: BrowserConsent = {
      approval_token: token,
      ...fields,
      consent_type: 'document_approval',
      document_version_id: version.id,
      language: version.language,
    };
    return this.#record({ type: 'recorded', consent });
  }

  /**
   * Shows the texts in another language of the site.
   * @param language the language to match with those of the site; if omitted, that of the page or else of the browser
   * @throws ServiceError
   */
  async setLanguage(language = this.#wantedLanguage()): Promise<void> {
    const configuration = await this.#configurations.in(language);
    this.#error = null;
    this.#handle({ type: 'translated', configuration });
  }

  /**
   * Page of the service where the visitor looks up the choice and saves its receipt, or null until the service has
   * accepted the choice.
   */
  get proofPage(): string | null {
    const token = this.#state.choice?.consent_token;
    return token === undefined ? null : this.#service.addressOf(`/verify#${token}`);
  }

  /**
   * Loads a file of the SDK from the service, which few pages need. The service and the SDK are built together.
   * @param name its name in the service's folder `sdk`, without its ending
   * @throws Error if the file cannot be loaded here
   */
  file<T>(name: string): Promise<T> {
    return this.#surroundings.load(this.#service.addressOf(`/sdk/${name}.js`));
  }

  /** Accepted consents of this browser with their promises, oldest first, at most 50. */
  records(): readonly KeptRecord[] {
    return this.#page.queue.records();
  }

  /** Consents that wait for the service's answer, oldest first. */
  queued(): readonly QueuedConsent[] {
    return this.#page.queue.items();
  }

  /**
   * Reads the stored values again and sends what waits, even after earlier failures. A page does this by itself when it
   * is shown or online again.
   */
  resume(): void {
    if (this.#isStopped) return;
    this.#handle({ type: 'looked' });
    this.#outbox.flush();
    // The page was opened without a network, or while the service was unavailable.
    if (this.#state.status !== 'unavailable' || this.#error === null || !isPassing(this.#error)) return;
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
  }

  async #start(): Promise<ConsentState> {
    const { obstacle, ready, watch } = this.#surroundings;
    const error = obstacle();
    if (error !== null) return this.#fail(error);
    if (ready !== undefined) await ready();
    if (this.#isStopped) return this.#state;
    this.#unwatch = watch({ look: () => this.#handle({ type: 'looked' }), resume: () => this.resume() });
    return this.#load();
  }

  async #load(): Promise<ConsentState> {
    const page = this.#page;
    this.#handle({ type: 'looked' });
    const { newest } = this.#page.facts;
    const language = newest?.language || this.#wantedLanguage();
    const cached = this.#configurations.cached(language)?.configuration;
    // A cached configuration is used at once, so that scripts do not wait for the network.
    if (cached !== undefined && newest !== null && isInForce(newest, cached))
      this.#handle({ type: 'translated', configuration: cached });
    try {
      const configuration = await this.#toShow(language);
      if (this.#error !== null && isPassing(this.#error)) this.#error = null;
      if (cookiePolicyOf(configuration) === undefined) this.#setObstacle(noPolicy());
      await this.#loadSignals(configuration);
      // Somebody signed in or out meanwhile. A choice that is read is taken for told.
      if (page !== this.#page || this.#isStopped) return this.#state;
      if (this.#person && this.#isUnread) {
        const account = await this.#read(this.#person, configuration);
        if (page !== this.#page || this.#isStopped) return this.#state;
        if (!account) this.#person = undefined;
        this.#open(account);
      }
      this.#handle({ type: 'configured', configuration });
    } catch (error) {
      // A file that does not load, or a token that the page cannot get.
      const failure = error instanceof ServiceError ? error : new ServiceError(`${error}`, 'NO_ANSWER', 0);
      if (page === this.#page) this.#fail(failure);
    }
    this.#outbox.flush();
    this.#renew(true);
    return this.#state;
  }

  /** Whether the choice of whoever is signed in was not read yet. */
  get #isUnread(): boolean {
    return !!this.#person && !this.#account;
  }

  /** Reads the choice of whoever is signed in, if the site has accounts. */
  async #read(person: Person, configuration: Configuration): Promise<Account | undefined> {
    const { jar, store, isSignalled } = this.#surroundings;
    const { openAccount } = this.#options.accounts ?? (await this.file<AccountModule>('account'));
    return openAccount(person, {
      configuration,
      store,
      service: this.#service,
      signal: isSignalled,
      texts: () => jar.read(CHOICE),
      replace: (text) => jar.keep(CHOICE, text),
      onStale: () => person === this.#person && this.signIn(person),
    });
  }

  /** Loads the signals of IAB, if the site sends them. If they do not load, the visitor is still asked. */
  async #loadSignals({ iab }: Configuration): Promise<void> {
    const { iabFailed } = this.#surroundings;
    // No advertiser listens in an app.
    if (!iab || this.#signals || !iabFailed) return;
    const { baseUrl } = this.#options;
    try {
      // Signals that load late are also passed to the page's scripts, so later choices must state them.
      const speaks = this.file<IabModule>('iab')
        .then(({ speakIab }) => speakIab(this, iab, baseUrl))
        .then((signals) => {
          this.#signals = signals;
        });
      await Promise.race([
        speaks,
        new Promise((_, fail) => setTimeout(() => fail(new Error('no answer')), LONGEST_WAIT_MS)),
      ]);
    } catch (error) {
      iabFailed();
      this.#warn(`No signals of IAB: ${error}`);
    }
  }

  #strings(answers: Answers, isOptedOut: boolean): Pick<BrowserConsent, 'iab'> {
    const { categories } = completed(this.#configuration(), answers);
    return { iab: this.#signals?.stringsOf(categories, isOptedOut, this.#service.now()) };
  }

  /** The device then reads the stored values, in case something else wrote a newer choice. */
  #renew(isDaily: boolean): void {
    if (this.proofPage === null) return;
    this.#surroundings.renewal?.renew(isDaily, () => this.#handle({ type: 'looked' }));
  }

  /** The configuration in the language of the choice, or in that of the page if the visitor must choose again. */
  async #toShow(language: string | undefined): Promise<Configuration> {
    const { newest } = this.#page.facts;
    const configuration = await this.#configurations.in(language);
    return newest === null || isInForce(newest, configuration)
      ? configuration
      : this.#configurations.in(this.#wantedLanguage());
  }

  #record(event: Extract<Event, { type: 'recorded' }>): Promise<Acceptance>;
  #record(event: Event): Promise<Acceptance | undefined>;
  /** @returns the service's response to the consent that the event records */
  #record(event: Event): Promise<Acceptance | undefined> {
    const key = this.#page.handle(event);
    const answered = key === undefined ? Promise.resolve(key) : this.#outbox.answerTo(key);
    this.#outbox.flush();
    this.#show();
    return answered;
  }

  #handle(event: Event): void {
    // Nobody is asked before the account's choice was read.
    if (event.type === 'translated' && this.#isUnread) return;
    this.#page.handle(event);
    this.#show();
  }

  #fail(error: ServiceError): ConsentState {
    this.#surroundings.iabFailed?.();
    this.#setObstacle(error);
    this.#handle({ type: 'failed' });
    return this.#state;
  }

  /** Tells the developer of the page why nothing can be recorded, once for each reason. */
  #setObstacle(error: ServiceError): void {
    if (this.#error?.code !== error.code) console.error(`Consent Ledger: ${error.code}: ${error.message}`);
    this.#error = error;
  }

  #onAccepted(consent: QueuedConsent, acceptance: Acceptance): void {
    this.#warnOf(acceptance);
    this.#error = null;
    this.#handle({ type: 'accepted', ...answered(consent), acceptance });
    this.#renew(false);
  }

  #onRefused(consent: QueuedConsent, error: ServiceError): void {
    console.error(`Consent Ledger: not recorded: ${error.code}: ${error.message}`);
    this.#error = error;
    // A category or service became another one while the page was open: the person is asked again.
    const isOutdated = error.code === 'CONFIG_OUTDATED' || error.code === 'INVALID_CATEGORIES';
    this.#handle({ type: 'refused', ...answered(consent), isOutdated });
  }

  /** Prints the warnings of the service on the console, once for each field. */
  #warnOf({ warnings = [] }: Pick<Acceptance, 'warnings'>): void {
    for (const { field, message } of warnings) this.#warn(`${field}: ${message}`, field);
  }

  /** Warns the developer of the page on the console, once for each key. */
  #warn(text: string, about = text): void {
    if (!this.#said.has(about)) console.warn(`Consent Ledger: ${text}`);
    this.#said.add(about);
  }

  /** Re-reads the configuration (specification, `CONFIG_OUTDATED`). */
  async #isStillActive(consent: QueuedConsent): Promise<boolean> {
    const sent = sentOf(consent);
    const configuration = await this.#configurations.read(sent?.language);
    const isActive = configuration.documents.some(({ version }) => version.id === sent?.document_version_id);
    if (!isActive) this.#handle({ type: 'translated', configuration });
    return isActive;
  }

  #wantedLanguage(): string | undefined {
    return this.#options.language ?? this.#surroundings.language();
  }

  #configuration(): Configuration {
    const { configuration } = this.#page.facts;
    if (configuration !== null) return configuration;
    throw this.#error ?? new ServiceError('Wait for start().', 'UNAVAILABLE', 0);
  }

  #show(): void {
    const { configuration, isUnavailable } = this.#page.facts;
    const { choice } = this.#page;
    const asks = this.isGpcOn ? 'signalled' : this.#page.isUnasked ? 'unasked' : 'needed';
    // The signal answers for a person who has not permitted anything.
    const known = choice === null ? asks : this.#page.isAskedAgain ? (choice.isPermitted ? 'needed' : asks) : 'chosen';
    const status = isUnavailable ? 'unavailable' : configuration === null ? 'loading' : known;
    const state: ConsentState = { status, configuration, choice, error: this.#error };
    // It remains the same object while nothing changes, because frameworks compare states.
    if (!isSame(this.#state, state)) this.#state = state;
    for (const listener of [...this.#listeners]) this.#tell(listener);
  }

  #tell(listener: (state: ConsentState) => void): void {
    try {
      listener(this.#state);
    } catch (error) {
      // A fault of the page must not keep a choice from the service or from the other listeners.
      this.#surroundings.report(error);
    }
  }
}

/** The part of a consent that a user interface needs, on a page and in an app. */
export type ConsentSource = Pick<ConsentCore, keyof ConsentCore>;

function isSame(one: ConsentState, other: ConsentState): boolean {
  return (
    one.configuration === other.configuration &&
    one.error === other.error &&
    JSON.stringify([one.status, one.choice]) === JSON.stringify([other.status, other.choice])
  );
}

function answered(consent: QueuedConsent) {
  const { idempotency_key: key, queued_at: at } = consent;
  return { key, at, consentType: sentOf(consent)?.consent_type ?? '' };
}

function noPolicy(): ServiceError {
  return new ServiceError('The site has no active cookie policy.', 'UNAVAILABLE', 0);
}
