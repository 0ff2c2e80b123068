import type { Adapter, Device, OpenConsent, SeenState } from './adapter.js';
import type { Fate, ModelRecord } from './service.js';
import type { Site } from './site.js';
import type { SeenRequest, World } from './world.js';

type Answers = Readonly<Record<string, boolean>>;

const CATEGORIES = ['necessary', 'analytics', 'marketing'] as const;

/** What an SDK does wrong. */
export class ConformanceError extends Error {
  override readonly name = 'ConformanceError';

  constructor(
    readonly adapter: string,
    /** Name of the rule that it breaks. */
    readonly rule: string,
    /** The site, and what the visitor and the surroundings did before. */
    readonly steps: readonly string[],
    readonly expected: string,
    readonly seen: string,
  ) {
    super(`${adapter}: ${rule}\n  after     ${steps.join(', ')}\n  expected  ${expected}\n  seen      ${seen}`);
  }
}

/** One visitor of a site on one device, who acts through the SDK of an adapter. */
export class Visit {
  device: Device;
  readonly #steps: string[];
  #areServicesAnswered = false;
  #isSignalled = false;
  #open: OpenConsent | undefined;

  constructor(
    private readonly adapter: Adapter,
    private readonly rule: string,
    private readonly world: World,
  ) {
    this.#steps = [`site ${JSON.stringify(world.site)}`];
    this.device = world.device(() => this.#isSignalled);
  }

  /** Opens the page or the app, and lets it start. */
  async start(): Promise<void> {
    await this.#step('start', async () => {
      this.#open = await this.adapter.open(this.device);
    });
  }

  /** Closes it, and opens it on a device that kept nothing. @param at what the clock shows then, in milliseconds */
  async nextDevice(at: number): Promise<void> {
    await this.close();
    this.device = this.world.device(() => this.#isSignalled);
    this.world.clock.now = at;
    this.#steps.push('another device');
    await this.start();
  }

  /** Closes the page or the app. */
  async close(): Promise<void> {
    await this.#step('close', () => {
      const consent = this.#consent;
      this.#open = undefined;
      return consent.close();
    });
  }

  /** Closes and opens it again. */
  async nextStart(): Promise<void> {
    await this.close();
    await this.start();
  }

  choose(categories: Answers, services?: Answers): Promise<void> {
    this.#areServicesAnswered ||= services !== undefined;
    const words = [categories, services].filter(Boolean).map((one) => JSON.stringify(one));
    return this.#step(`choose ${words.join(' ')}`, () => this.#consent.choose(categories, services));
  }

  acceptAll(): Promise<void> {
    return this.#step('accept all', () => this.#consent.acceptAll());
  }

  rejectAll(): Promise<void> {
    return this.#step('reject all', () => this.#consent.rejectAll());
  }

  optOutOfSale(isOptedOut = true): Promise<void> {
    const words = isOptedOut ? 'opt out of sale' : 'take the opt-out back';
    return this.#step(words, () => this.#consent.optOutOfSale(isOptedOut));
  }

  /** @param id the site's reference for the person */
  signIn(id: string): Promise<void> {
    const token = async () => {
      if (this.world.fate === 'away') throw new TypeError('no network');
      return this.world.service.mint(id);
    };
    return this.#step(`sign in ${id}`, () => this.#consent.signIn({ id, token }));
  }

  signOut(): Promise<void> {
    return this.#step('sign out', () => this.#consent.signOut());
  }

  /** Somebody who has the page's key, and no token, records a permission under the person's reference. */
  forge(id: string): void {
    this.#steps.push(`forge a consent of ${id}`);
    const consent = { consent_type: 'cookie', decision: 'accepted', scope: 'account', visitor_id: id };
    this.world.service.post(JSON.stringify({ ...consent, idempotency_key: `forged ${id}` }), 'answered');
  }

  resume(): Promise<void> {
    return this.#step('resume', () => this.#consent.resume());
  }

  /** What becomes of the requests from now on. */
  network(fate: Fate): Promise<void> {
    return this.#step(`network: ${fate}`, () => {
      this.world.fate = fate;
    });
  }

  /** How long each request takes from now on. @param ms milliseconds */
  delay(ms: number): void {
    this.#steps.push(`each request takes ${ms / 1000} s`);
    this.world.delayMs = ms;
  }

  /** The service does not know the key of the site. */
  refuseKey(): void {
    this.#steps.push('the service refuses the key');
    this.world.isKeyRefused = true;
  }

  /** The browser begins or ends to send its signal. */
  signal(isOn: boolean): Promise<void> {
    return this.#step(`signal ${isOn ? 'on' : 'off'}`, () => {
      this.#isSignalled = isOn;
    });
  }

  /** @param ms milliseconds */
  async pass(ms: number): Promise<void> {
    this.#steps.push(`${Math.round(ms / 1000)} s pass`);
    await this.world.clock.pass(ms);
  }

  /** The site publishes another configuration, and devices forget the one that they keep for a while. */
  async publish(change: Site): Promise<void> {
    this.#steps.push(`publish ${JSON.stringify(change)}`);
    this.world.site = { ...this.world.site, ...change };
    await this.world.clock.pass(600_000);
  }

  /** What the site publishes now. */
  get site(): Site {
    return this.world.site;
  }

  get state(): SeenState {
    return this.#consent.state;
  }

  /** Requests of this world, oldest first. */
  get requests(): readonly SeenRequest[] {
    return this.world.requests;
  }

  get posts(): readonly SeenRequest[] {
    return this.requests.filter(({ method }) => method === 'POST');
  }

  /** What the service recorded, oldest first. */
  get records(): readonly ModelRecord[] {
    return this.world.service.records;
  }

  /**
   * The answers for categories, and that each service has that of its category, unless the visitor answered for services.
   * @throws ConformanceError
   */
  expectAllowed(expected: Answers): void {
    const seen = Object.fromEntries(Object.keys(expected).map((key) => [key, this.#consent.allows(key)]));
    this.expect('allows(category)', seen, expected);
    if (this.#areServicesAnswered) return;
    const services = Object.entries(this.site.services ?? {}).flatMap(([category, keys]) => {
      const isAllowed = expected[category];
      return isAllowed === undefined ? [] : keys.map((key) => [key, isAllowed] as const);
    });
    this.expectServices(Object.fromEntries(services));
  }

  /** @throws ConformanceError */
  expectServices(expected: Answers): void {
    const seen = Object.fromEntries(Object.keys(expected).map((key) => [key, this.#consent.allowsService(key)]));
    this.expect('allowsService(service)', seen, expected);
  }

  /** @throws ConformanceError */
  expectStatus(expected: string): void {
    this.expect('state.status', this.state.status, expected);
  }

  /** The decisions on record about cookies, oldest first. @throws ConformanceError */
  expectDecisions(...expected: readonly string[]): void {
    const seen = this.records.filter(({ type }) => type === 'cookie').map(({ decision }) => decision);
    this.expect('recorded decisions', seen, expected);
  }

  /** @param what what is compared, as JSON @throws ConformanceError */
  expect(what: string, seen: unknown, expected: unknown): void {
    const [is, must] = [JSON.stringify(seen), JSON.stringify(expected)];
    if (is === must) return;
    throw new ConformanceError(this.adapter.name, this.rule, this.#steps, `${what}: ${must}`, `${what}: ${is}`);
  }

  get #consent(): OpenConsent {
    if (this.#open === undefined) throw new Error('Nothing is open.');
    return this.#open;
  }

  async #step(words: string, act: () => unknown): Promise<void> {
    this.#steps.push(words);
    // What an action returns may wait for a network that comes much later.
    if (words === 'start') await act();
    else ignore(act());
    await this.world.clock.pass(1);
    this.#ask();
  }

  /** Asks what a page asks all the time: an SDK that keeps what it answered must not answer so later. */
  #ask(): void {
    if (this.#open === undefined) return;
    for (const category of CATEGORIES) this.#open.allows(category);
    for (const service of Object.values(this.site.services ?? {}).flat()) this.#open.allowsService(service);
  }
}

/** Lets what an action returned reject. */
function ignore(answer: unknown): void {
  if (answer instanceof Promise) answer.catch(() => undefined);
}
