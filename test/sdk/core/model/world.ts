import { type Keeping, ModelBrowser } from '../../../../sdk/conformance/src/browser.js';
import { type Fate, ModelService } from '../../../../sdk/conformance/src/service.js';
import { AskedQuestions, checkAnswers, checkNotice, permitsSomething } from './rules-of-pages.js';
import { configurationIn } from './site.js';
import { Tab } from './tab.js';

const HOSTS = ['www.shop.example', 'blog.shop.example'] as const;
const PATHS = ['/', '/shop/garden', '/a/'] as const;
const DOMAIN = 'shop.example';
const MOST_TABS = 4;
const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 1);

type Answers = Readonly<Record<string, boolean>>;

/** A step of a sequence. A number selects a host, path, page or category, modulo how many there are. */
export type Happening =
  | { readonly kind: 'open'; readonly host: number; readonly path: number }
  | { readonly kind: 'close' | 'look'; readonly tab: number }
  | { readonly kind: 'choose'; readonly tab: number; readonly categories: Answers; readonly services: Answers }
  | { readonly kind: 'send'; readonly tab: number; readonly fates: readonly Fate[] }
  | { readonly kind: 'pass' | 'jump'; readonly ms: number }
  | { readonly kind: 'publish'; readonly recipients: readonly string[]; readonly services: readonly string[] }
  | { readonly kind: 'signal' | 'share' | 'clear' }
  | { readonly kind: 'cookies' | 'storage'; readonly keeping: Keeping };

export interface WorldOptions {
  readonly law: string | null;
  readonly isShared: boolean;
  /** Keys of the services that have switches. */
  readonly services: readonly string[];
}

interface Made {
  readonly key: string;
  readonly host: string;
  /** Whether its page shared the choice with the other host. */
  readonly isShared: boolean;
}

/** A visitor, a browser, a site on two hosts and the service, with what a careful observer knows of them. */
export class World {
  readonly service = new ModelService(() => START + this.#elapsed);
  readonly #browser = new ModelBrowser(() => this.#now());
  readonly #law: string | null;
  #configuration;
  readonly #questions = new AskedQuestions();
  /** By page: the turn in which it was opened. */
  readonly #opened = new Map<Tab, number>();
  /** Turn of the last change of the signal. */
  #signalled = 0;
  readonly #tabs: Tab[] = [];
  readonly #visited = new Set<string>();
  /** Choices in the order in which the visitor made them. */
  readonly #made: Made[] = [];
  #isShared: boolean;
  #isSignalled = false;
  #elapsed = 0;
  #ahead = 0;
  #randoms = 0;
  /** Number of the happening. */
  #turn = 0;
  /** By host: the turn of a refusal that its pages must know; 0 without one. */
  readonly #refused = new Map<string, number>();
  readonly #permitted = new Map<Tab, number>();
  /** By page: the turn of the last refusal that was made on it. */
  readonly #refusedOn = new Map<Tab, number>();
  readonly #looked = new Map<Tab, number>();
  #cleared = 0;
  /** Turn of the last permission, on any host. */
  #permission = 0;
  // Each of these events in a sequence voids a promise of the SDK.
  #isClean = true;
  #wasSignalled = false;
  #wasShared = false;
  #wasSetBack = false;
  #wasWrong = false;
  /** By host: whether the visitor permitted something, by the newest choice that was not refused. */
  readonly #standing = new Map<string, { readonly key: string; readonly is: boolean; readonly was: boolean }>();

  constructor({ law, isShared, services }: WorldOptions) {
    this.#isShared = isShared;
    this.#law = law;
    this.#configuration = configurationIn(law, 'v1', [], services);
  }

  /** @throws Error when an invariant does not hold */
  happen(what: Happening): void {
    this.#turn += 1;
    switch (what.kind) {
      case 'open':
        this.#open(HOSTS[what.host % HOSTS.length] ?? HOSTS[0], PATHS[what.path % PATHS.length] ?? '/');
        break;
      case 'close':
        if (this.#tabs.length > 0) this.#tabs.splice(what.tab % this.#tabs.length, 1);
        break;
      case 'look':
        this.#look(this.#tab(what.tab));
        break;
      case 'choose':
        this.#choose(this.#tab(what.tab), what.categories, what.services);
        break;
      case 'send':
        this.#send(this.#tab(what.tab), what.fates);
        break;
      case 'pass':
        this.#elapsed += what.ms;
        break;
      case 'jump':
        this.#ahead += what.ms;
        this.#wasWrong = true;
        if (what.ms < 0) this.#wasSetBack = true;
        break;
      case 'signal':
        this.#isSignalled = !this.#isSignalled;
        this.#wasSignalled = true;
        this.#signalled = this.#turn;
        break;
      case 'publish':
        this.#configuration = configurationIn(this.#law, 'v1', what.recipients, what.services);
        break;
      case 'share':
        if (!this.#isShared) this.#wasShared = true;
        this.#isShared = true;
        break;
      case 'clear':
        this.#browser.clear();
        this.#cleared = this.#turn;
        this.#isClean = false;
        break;
      default:
        this.#browser[what.kind] = what.keeping;
        if (what.keeping !== 'kept') this.#isClean = false;
    }
    // A page from before the hosts shared deletes what they share when it writes (docs/sdk.md).
    if (this.#wasShared && 'tab' in what && this.#tab(what.tab)?.domain === undefined) this.#cleared = this.#turn;
    this.#check();
  }

  /** Everything is well again, and the visitor opens the site once more. @throws Error as `happen` */
  end(): void {
    this.#browser.cookies = 'kept';
    this.#browser.storage = 'kept';
    this.#turn += 1;
    this.#tabs.length = 0;
    const last = this.#made.at(-1);
    const isNext = this.#made
      .slice(0, -1)
      .every(({ key }) => this.service.answered.has(key) || this.service.passed.has(key));
    // First the host on which the last choice was not made; `#checkLast` needs a right clock.
    const visited = [...this.#visited];
    const hosts = this.#wasWrong ? visited : visited.sort((one) => (one === last?.host ? 1 : -1));
    // The second host may finish what the first one learns of.
    for (const [i, host] of [...hosts, ...(hosts.length > 1 ? hosts : [])].entries()) {
      const tab = this.#open(host, '/');
      this.#send(tab, Array(12).fill('answered'));
      this.#look(tab);
      if (i === 0 && isNext && last !== undefined) this.#checkLast(last);
      const { newest } = tab.page.facts;
      const isRefused = newest?.key !== undefined && this.service.refused.has(newest.key);
      // If the cookie could not be written, this page cannot learn of the refusal.
      if (isRefused && this.#isClean) throw new Error('a refused choice counts');
      if (tab.page.queue.items().length > 0) throw new Error('something waits for ever');
    }
    this.#check();
    if (this.#isClean) this.#checkIdentity();
    if (this.#isClean && !this.#wasShared) this.#checkComplete();
  }

  #now(): number {
    return START + this.#elapsed + this.#ahead;
  }

  #tab(index: number): Tab | undefined {
    return this.#tabs[index % Math.max(1, this.#tabs.length)];
  }

  #open(host: string, path: string): Tab {
    this.#visited.add(host);
    const tab = new Tab({
      browser: this.#browser,
      service: this.service,
      host,
      path,
      domain: this.#isShared ? DOMAIN : undefined,
      now: () => this.#now(),
      random: () => this.#random(),
      isSignalled: () => this.#isSignalled,
      configuration: this.#configuration,
    });
    this.#tabs.push(tab);
    this.#opened.set(tab, this.#turn);
    if (this.#tabs.length > MOST_TABS) this.#tabs.shift();
    this.#looked.set(tab, this.#turn);
    return tab;
  }

  #random(): string {
    this.#randoms += 1;
    return this.#randoms.toString(16).padStart(32, '0').repeat(2);
  }

  #look(tab: Tab | undefined): void {
    if (tab === undefined) return;
    tab.page.handle({ type: 'looked' });
    if (this.#browser.cookies === 'kept') this.#looked.set(tab, this.#turn);
  }

  #send(tab: Tab | undefined, fates: readonly Fate[]): void {
    const { size } = this.service.refused;
    tab?.send(fates);
    this.#followRefusals();
    if (tab !== undefined && this.service.refused.size > size) this.#checkAskedAgain(tab);
  }

  #choose(tab: Tab | undefined, categories: Answers, services: Answers): void {
    if (tab === undefined) return;
    this.#elapsed += 1;
    tab.isTold = false;
    const key = tab.page.handle({ type: 'chose', categories, services, stated: {} });
    const hosts = tab.domain === undefined ? [tab.host] : HOSTS;
    const { newest } = tab.page.facts;
    if (key === undefined || newest?.key !== key) throw new Error('a choice was not taken');
    const isPermission = checkAnswers(tab, categories, services);
    if (!isPermission) this.#checkDecision(tab, newest.decision);
    if (!this.#isClean && tab.page.queue.items().every(({ idempotency_key }) => idempotency_key !== key))
      throw new Error('a choice does not wait for the service');
    this.#questions.add(tab);
    this.#made.push({ key, host: tab.host, isShared: tab.domain !== undefined });
    if (isPermission) {
      this.#permitted.set(tab, this.#turn);
      this.#permission = this.#turn;
    } else this.#refusedOn.set(tab, this.#turn);
    const isKept = !tab.isTold || this.#browser.cookies === 'kept';
    // An older choice must not count, so that it is deleted although the new one is not kept.
    if (!isKept) this.#cleared = this.#turn;
    for (const host of hosts) {
      if (isKept) this.#refused.set(host, isPermission ? 0 : this.#turn);
      this.#standing.set(host, { key, is: isPermission, was: this.#standing.get(host)?.is ?? false });
    }
    // Other tabs of the origin hear of it.
    if (this.#browser.storage !== 'kept') return;
    for (const other of this.#tabs) if (other !== tab && other.host === tab.host) this.#look(other);
  }

  /** A withdrawal says so if and only if something was permitted. */
  #checkDecision(tab: Tab, decision: string): void {
    if (!this.#isClean || this.#wasShared || this.#wasSignalled) return;
    const isPermitted = this.#standing.get(tab.host)?.is ?? false;
    if ((decision === 'withdrawn') !== isPermitted) throw new Error(`${decision}, but permitted: ${isPermitted}`);
    if ((tab.page.withdrawnAt !== null) !== isPermitted)
      throw new Error(`what was permitted is ${isPermitted ? 'not ' : ''}deleted`);
  }

  #followRefusals(): void {
    for (const [host, { key, was }] of this.#standing)
      if (this.service.refused.has(key)) this.#standing.set(host, { key: '', is: was, was });
  }

  #check(): void {
    this.#checkRefusals();
    const isOrderly = this.#isClean && !this.#wasWrong && this.service.refused.size === 0;
    for (const tab of this.#tabs) {
      const isSteady = isOrderly && (this.#opened.get(tab) ?? 0) > this.#signalled;
      checkNotice(tab, { law: this.#law, isOn: this.#isSignalled, isSteady });
      this.#questions.check(tab);
    }
    const bare = this.service.records.filter(
      ({ type, notice }) => type === 'do_not_sell_opt_out' && notice === undefined,
    );
    if (bare.length > 0) throw new Error('the record of a signal states no notice');
    const isConflict = this.service.records.some(({ notice }) => notice?.includes('in place of') === true);
    if (isConflict && this.#permission === 0) throw new Error('a conflict without an earlier permission');
    if (this.#permission === 0 && this.#tabs.some(({ page }) => page.withdrawnAt !== null))
      throw new Error('something is deleted although nothing was ever permitted');
    const keys = this.service.records.map(({ key }) => key);
    const isForgotten = this.#wasWrong && this.#elapsed > DAY_MS;
    if (this.#isClean && !isForgotten && new Set(keys).size < keys.length)
      throw new Error('a choice was recorded twice');
  }

  /** After a refusal is shown as done, nothing optional is permitted until the visitor permits it again. */
  #checkRefusals(): void {
    // Hosts that did not share yet have choices that did not know each other; only clocks order them.
    if (this.#wasShared && this.#wasSetBack) return;
    for (const tab of this.#tabs) {
      // A refusal on a page holds on that page, also if the browser lost it.
      const isOwn = !this.#isClean && !this.#wasSetBack && (this.#refusedOn.get(tab) ?? 0) > this.#permission;
      if (isOwn && permitsSomething(tab)) throw new Error('permitted after a refusal on the same page');
      const refusal = this.#refused.get(tab.host) ?? 0;
      const isSeen = (this.#looked.get(tab) ?? 0) >= refusal;
      const isVisible = this.#browser.cookies === 'kept' && this.#cleared < refusal;
      // Hosts that begin to share merge their choices: the newest counts.
      const isOver = this.#wasShared && this.#permission > refusal;
      if (refusal === 0 || isOver || (this.#permitted.get(tab) ?? 0) > refusal || !(isSeen || isVisible)) continue;
      if (permitsSomething(tab)) throw new Error('permitted after a refusal');
    }
  }

  /** Whether a choice need not be recorded. */
  #isGivenUp(key: string): boolean {
    // An hour later by its clock, a page asks first. The record of another host with the same answers, from
    // the minute before or of a clock that was set back, is then taken for its own (docs/sdk-rules.md).
    const isTaken = this.#wasWrong && this.service.answered.has(key);
    return this.service.refused.has(key) || this.service.passed.has(key) || isTaken;
  }

  /** A choice that only waits for its answer is finished by any host that shares it. */
  #checkLast({ key, isShared }: Made): void {
    if (!this.#isClean || this.#wasShared || this.#wasSignalled || this.#wasWrong || !isShared) return;
    if (!this.service.answered.has(key)) throw new Error('a choice waits for the host on which it was made');
  }

  /**
   * A choice that the service refused is asked again, unless it is on record: another host may repeat it after a day, when
   * the service knows its key no more.
   */
  #checkAskedAgain(tab: Tab): void {
    if (!this.#isClean || this.#wasShared || this.#wasSignalled) return;
    const last = this.#made.findLast(({ host }) => this.#isShared || host === tab.host);
    const isRefused = last !== undefined && this.service.refused.has(last.key) && !this.service.answered.has(last.key);
    if (isRefused && tab.page.choice !== null) throw new Error('a refused choice is not asked again');
  }

  /** Hosts that began to share the choice share the identity from the first choice after it. */
  #checkIdentity(): void {
    if (this.#wasSetBack) return;
    const keys = new Set(this.#made.flatMap(({ key, isShared }) => (isShared ? key : [])));
    const visitors = this.service.records.flatMap(({ key, visitor }) => (keys.has(key) ? visitor : []));
    if (new Set(visitors).size > 1) throw new Error('more than one identity after hosts share the choice');
  }

  /** Storage held: each choice is recorded exactly once, in order, under one identity. */
  #checkComplete(): void {
    if (this.#wasWrong && this.#elapsed > DAY_MS) return;
    const turns = new Map(this.#made.map(({ key }, turn) => [key, turn]));
    for (const host of this.#isShared ? [undefined] : HOSTS) {
      const made = this.#made.filter((one) => host === undefined || one.host === host);
      const records = this.service.records.filter(({ key }) => made.some((one) => one.key === key));
      const lost = made.filter(({ key }) => !this.#isGivenUp(key) && !records.some((one) => one.key === key));
      // Another host knows the newest choice, and not what waits before it: it is never recorded after it.
      const isPassed = this.#wasSignalled || lost.every((one) => one !== made.at(-1));
      const isExcused = host === undefined && this.#visited.size > 1 && isPassed;
      if (lost.length > 0 && !isExcused) throw new Error('a choice was lost');
      const order = records.map(({ key }) => turns.get(key) ?? -1);
      if (order.some((turn, i) => i > 0 && turn < (order[i - 1] ?? 0)))
        throw new Error(`recorded out of order: ${order}`);
      if (new Set(records.map(({ visitor }) => visitor)).size > 1) throw new Error('more than one identity');
    }
  }
}
