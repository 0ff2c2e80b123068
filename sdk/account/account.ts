import type { Account, AccountModule, AccountPorts, AccountTexts, Person } from '../core/account.js';
import type { Configuration, Label } from '../core/answers.js';
import { isAskedFor, type Kept, someAnswer } from '../core/choice.js';
import { readChoice, writeChoice } from '../core/choice-text.js';
import { type Guard, isText, listOf, objectOf, parseJson } from '../core/guards.js';
import { newestOf } from '../core/newest.js';
import type { Store } from '../core/ports.js';
import { isQueued } from '../core/queue.js';
import { beside, ended } from '../core/transitions.js';
import { both, refusedHere } from './both.js';
import { type AccountConsent, accountChoice, isAccountStatus } from './status.js';

/** Names in the store of the device. */
const SEEN = 'seen';
const QUEUE = 'queue:';
const CHOICE = 'choice';
const MOST_SEEN = 8;
/** Consents that the service shows at most, in one answer. */
const MOST_SHOWN = 20;
const TYPES: readonly string[] = ['cookie', 'objection', 'do_not_sell_opt_out'];
/** Kinds of marks. */
const TOLD = 'told';
const TAKEN_BACK = 'back';
/** A consent that is sent within this time cannot have been passed by one of another device. */
const AT_ONCE_MS = 30_000;

/** @see AccountModule */
export const openAccount: AccountModule['openAccount'] = async (person, ports) => {
  const store = new AccountStore(person, ports.store);
  // It may be recorded after the service answers here, and before that is known.
  const sent = store.kept;
  const texts = ports.texts().join();
  const consents = await read(person, ports, await person.token());
  if (texts !== ports.texts().join()) return openAccount(person, ports);
  const asked = consents.find(({ consent_type }) => consent_type === 'cookie')?.asked;
  if (asked) store.write('asked', asked);
  const recorded = accountChoice(consents);
  const waiting = readChoice(store.kept ?? (recorded && sent) ?? '');
  // Recorded now, it would be the latest.
  for (const name of store.names(QUEUE))
    if (isPassed(waitingOf(store.read(name, isQueued)?.body ?? ''), consents)) store.remove(name);
  return new OpenAccount(person, ports, recorded, store, waiting);
};

/** The account's consents in force. @throws ServiceError */
async function read({ id }: Person, { service }: AccountPorts, token: string): Promise<readonly AccountConsent[]> {
  const path = `/tool/v1/consents/status?visitor_id=${encodeURIComponent(id)}`;
  const get = (query: string) => service.get(path + query, isAccountStatus, { 'X-Person-Token': token });
  const { consents } = await get('');
  const missing =
    consents.length < MOST_SHOWN ? [] : TYPES.filter((type) => consents.every((one) => one.consent_type !== type));
  const others = await Promise.all(missing.map((type) => get(`&consent_type=${type}`)));
  return [consents, ...others.map((one) => one.consents)].flat();
}

/** A consent that waits for the service, by its body. */
interface Waiting {
  readonly consent_type: string;
  /** When the person decided. */
  readonly at: number;
}

/** Whether the person decided something else later, on another device. */
function isPassed(waiting: Waiting | undefined, consents: readonly AccountConsent[]): boolean {
  if (waiting === undefined) return false;
  const { consent_type: type, at } = waiting;
  return TYPES.includes(type) && consents.some((one) => one.consent_type === type && Date.parse(one.created_at) > at);
}

const isSent = objectOf<{ consent_type: string; metadata: { chosen_at: string } }>({
  consent_type: isText,
  metadata: objectOf<{ chosen_at: string }>({ chosen_at: isText }),
});

function waitingOf(body: string): Waiting | undefined {
  const sent = parseJson(body, isSent);
  return sent && { consent_type: sent.consent_type, at: Date.parse(sent.metadata.chosen_at) };
}

/**
 * The account's choice and that of the device, as one choice for the rules of a page. What a page makes of it becomes
 * the account's, and a refusal also ends what the device permitted before.
 */
class OpenAccount implements Account {
  readonly store: AccountStore;
  readonly #person: Person;
  readonly #ports: AccountPorts;
  /** The account's choice as the service has it. */
  readonly #recorded: Kept | null;
  /** The account's choice as this page made it. */
  #made: Kept | null = null;
  /** The texts of the device's choice that the page knows. */
  #known: string;
  #isStale = false;
  #shown: Kept | null = null;
  #text: string | undefined;
  readonly #isTold: boolean;

  /** @param waiting what was chosen here, and waited for the service until now */
  constructor(person: Person, ports: AccountPorts, recorded: Kept | null, store: AccountStore, waiting: Kept | null) {
    this.#person = person;
    this.#ports = ports;
    this.#recorded = recorded;
    this.store = store;
    store.onAdded = (body) => {
      if (parseJson(body, isOptOut) !== undefined) this.#endDevice(true);
    };
    this.#known = ports.texts().join();
    this.#made = waiting;
    // It arrived, although its answer did not.
    if (recorded && waiting && isSame(waiting, recorded) && this.#isLater(waiting)) this.#see(recorded);
    this.texts();
    const { shown, account } = { shown: this.#shown, account: this.#account };
    const heeds = shown?.isPermitted || ports.configuration.region.signal_is_request;
    const isBlocked = heeds && ports.signal() && !shown?.isSignalled;
    this.#isTold =
      account !== null &&
      !account.isVoid &&
      !shown?.differs &&
      !isBlocked &&
      !this.#isSeen(account) &&
      !this.#isSeen(account, TOLD);
    if (this.#isTold && account !== null) this.#see(account, TOLD);
  }

  texts(): readonly string[] {
    const texts = this.#ports.texts().join();
    if (texts !== this.#known && !this.#isStale) {
      this.#isStale = true;
      // Not while the page handles what it saw.
      Promise.resolve().then(this.#ports.onStale);
    }
    const now = this.#ports.service.now();
    this.#shown = this.#isStale
      ? ended(this.#shown, now, false)
      : both(this.#deviceBeside(this.#account), this.#account, this.#isSettled, now);
    this.#text = this.#shown ? writeChoice(this.#shown) : undefined;
    return this.#text === undefined ? [] : [this.#text];
  }

  replace(text: string): boolean {
    const next = readChoice(text);
    const shown = this.#shown;
    if (next === null || text === this.#text) return true;
    const isAct = next.at !== shown?.at;
    const account = this.#account;
    // What the device alone has chosen does not become the account's by what is noted beside it.
    const noted = { ...(account ?? beside(null, this.#ports.service.now(), {})), opt_out: next.opt_out };
    const isMade = account !== null && account.at !== this.#recorded?.at;
    this.#made = isAct ? next : isMade ? { ...noted, ...recordOf(next) } : noted;
    this.store.keep(writeChoice(this.#made));
    if (!isAct && shown?.opt_out && next.opt_out === false && account?.consent_token) this.#see(account, TAKEN_BACK);
    if (isAct && isRefusal(next)) this.#endDevice(false);
    if (isMade && !isAct && next.consent_token !== undefined && this.#isLater(account)) this.#see(next);
    return true;
  }

  /** Ends what the device permitted, because somebody who is signed in refused on it. */
  #endDevice(isOptOut: boolean): void {
    const { replace, texts, service } = this.#ports;
    replace(writeChoice(withoutOlder(this.#device, isOptOut, service.now())));
    this.#known = texts().join();
  }

  readonly vouched = async (body: string): Promise<string | null> => {
    const stated = parseJson(body, isMembers);
    // That token names the person already.
    if (stated === undefined || 'approval_token' in stated) return body;
    const waiting = waitingOf(body);
    try {
      const token = await this.#person.token();
      if (waiting && this.#ports.service.now() - waiting.at > AT_ONCE_MS) {
        if (isPassed(waiting, await read(this.#person, this.#ports, token))) {
          this.#ports.onStale();
          return null;
        }
      }
      return JSON.stringify({ ...stated, person_token: token });
    } catch {
      return null;
    }
  };

  said({ labels, categories, accounts, language }: Configuration): AccountTexts {
    const textOf = (name: string): Label => labels[name] ?? { text: '', language };
    const scope = textOf('account_scope');
    const space = accounts?.person_space;
    const titles = (kept: Kept | null): string => {
      const on = categories.filter((one) => isAskedFor(one) && kept?.categories[one.key]).map(({ title }) => title);
      return on.length > 0 ? on.join(', ') : textOf('nothing_optional').text;
    };
    const slot = (name: string, kept: Kept | null): string =>
      `${textOf(name).text} (${new Date(kept?.at ?? 0).toLocaleDateString(scope.language)}): ${titles(kept)}.`;
    const parts = [
      ...(this.#shown?.differs
        ? [textOf('account_differs').text, slot('this_device', this.#device), slot('your_account', this.#account)]
        : []),
      scope.text,
      ...(space ? [`${textOf('account_space').text}: ${space}.`] : []),
    ];
    return {
      line: { text: parts.join(' '), language: scope.language },
      told: this.#isTold ? textOf('account_applies') : undefined,
    };
  }

  get #device(): Kept | null {
    return newestOf(
      this.#ports.texts().flatMap((text) => readChoice(text) ?? []),
      null,
      this.#ports.service.now(),
    );
  }

  /** The device's choice, without an opt-out that the person of the account took back here. */
  #deviceBeside(account: Kept | null): Kept | null {
    const device = this.#device;
    const isTakenBack = account?.opt_out === false && account.consent_token && this.#isSeen(account, TAKEN_BACK);
    return device && isTakenBack ? { ...device, opt_out: undefined } : device;
  }

  get #account(): Kept | null {
    const { configuration, signal, service } = this.#ports;
    const waiting = readChoice(this.store.kept ?? '');
    const made = newestOf(waiting ? [waiting] : [], this.#made, service.now());
    const recorded = this.#recorded;
    if (recorded === null || (made !== null && made.at >= recorded.at)) return made;
    if (!signal()) return recorded;
    // Chosen on this device although its signal was on.
    if (this.#isSeen(recorded)) return { ...recorded, isSignalled: true };
    // The signal is on record already, and what was permitted elsewhere does not count beside it.
    const isOnRecord = configuration.region.signal_is_request && recorded.opt_out === true;
    return isOnRecord ? { ...recorded, isSignalled: true, isVoid: recorded.isVoid || recorded.isPermitted } : recorded;
  }

  /** Whether the account's choice was made here, so that the device's own is no other opinion. */
  get #isSettled(): boolean {
    const account = this.#account;
    if (account === null || account.isVoid) return false;
    return account.at === this.#recorded?.at ? this.#isSeen(account) : this.#isLater(account);
  }

  /** Whether what was decided on this device is later than the device's own choice. */
  #isLater({ at }: Kept): boolean {
    return at >= (this.#device?.at ?? 0);
  }

  #isSeen(account: Kept, what?: string): boolean {
    return this.#seen.includes(this.#mark(account, what));
  }

  get #seen(): readonly string[] {
    return this.#ports.store.read(SEEN, listOf(isText)) ?? [];
  }

  /**
   * Notes that the account's choice is known to apply beside the device's own, as that is now.
   * @param what absent if the person decided so here
   */
  #see(account: Kept, what?: string): void {
    const mark = this.#mark(account, what);
    this.#ports.store.write(SEEN, [mark, ...this.#seen.filter((one) => one !== mark)].slice(0, MOST_SEEN));
  }

  /** Says nothing to whoever does not know the record's token, which a shared device does not keep. */
  #mark(account: Kept, what: string | undefined): string {
    const device = this.#device;
    // Who was told has not decided on what the device says no to.
    const kind = what === TOLD && refusedHere(device, account) === '' ? undefined : what;
    return digestOf([account.consent_token, device?.at, this.#ports.signal(), kind].join(' '));
  }
}

/** What a choice states of its record, and of the signal. */
function recordOf({
  key,
  after,
  settledAt,
  consent_token,
  proof_hash,
  created_at,
  isSignalled,
}: Kept): Partial<Kept> & Pick<Kept, 'isSignalled'> {
  return { key, after, settledAt, consent_token, proof_hash, created_at, isSignalled };
}

function isSame(one: Kept, other: Kept): boolean {
  return !someAnswer(one, (isOn, kind, key) => other[kind]?.[key] !== isOn);
}

/** Whether a choice says no to anything. */
function isRefusal({ isVoid, categories, services, exempt }: Kept): boolean {
  return isVoid || [categories, services, exempt].some((answers) => Object.values(answers ?? {}).includes(false));
}

/** The device's choice after a refusal by somebody who was signed in: its own refusals, and no permission. */
function withoutOlder(device: Kept | null, isOptOut: boolean, now: number): Kept {
  const isRefused = device !== null && !device.isVoid && !device.isPermitted;
  const end = ended(device, now, device?.isPermitted ?? false);
  return {
    ...(isRefused ? { ...device, at: end.at } : end),
    exempt: undefined,
    opt_out: isOptOut || device?.opt_out || undefined,
  };
}

/** Values for one person. Only what waits for the service is on the device, until it is answered. */
class AccountStore implements Store {
  readonly #memory = new Map<string, string>();
  readonly #store: Store;
  readonly #prefix: string;
  /** Called with the body of each consent that is added. */
  onAdded: (body: string) => void = () => undefined;

  constructor({ id }: Person, store: Store) {
    this.#store = store;
    // No id is then the beginning of the names of another.
    this.#prefix = `account:${encodeURIComponent(id)}:`;
  }

  /** The choice whose consents wait for the service, if any does. */
  get kept(): string | undefined {
    return this.#waits ? this.#store.read(this.#prefix + CHOICE, isText) : undefined;
  }

  keep(text: string): void {
    this.#memory.set(CHOICE, text);
    if (this.#waits) this.#store.write(this.#prefix + CHOICE, text);
  }

  read<T>(name: string, guard: Guard<T>): T | undefined {
    if (name.startsWith(QUEUE)) return this.#store.read(this.#prefix + name, guard);
    const text = this.#memory.get(name);
    // Without a choice of its own, the account has that of the device.
    return text === undefined ? this.#store.read(name, guard) : parseJson(text, guard);
  }

  write(name: string, value: object | string | number): boolean {
    if (!name.startsWith(QUEUE)) {
      this.#memory.set(name, JSON.stringify(value));
      return true;
    }
    const isKept = this.#store.write(this.#prefix + name, value);
    const choice = this.#memory.get(CHOICE);
    if (choice !== undefined) this.#store.write(this.#prefix + CHOICE, choice);
    if (isQueued(value)) this.onAdded(value.body);
    return isKept;
  }

  remove(name: string): void {
    this.#memory.delete(name);
    if (!name.startsWith(QUEUE)) return;
    this.#store.remove(this.#prefix + name);
    if (!this.#waits) this.#store.remove(this.#prefix + CHOICE);
  }

  names(prefix: string): readonly string[] {
    if (!prefix.startsWith(QUEUE)) return [...this.#memory.keys()].filter((name) => name.startsWith(prefix)).sort();
    return this.#store.names(this.#prefix + prefix).map((name) => name.slice(this.#prefix.length));
  }

  get #waits(): boolean {
    return this.names(QUEUE).length > 0;
  }
}

const isSale = (value: unknown): value is 'do_not_sell_opt_out' => value === 'do_not_sell_opt_out';
const isAccepted = (value: unknown): value is 'accepted' => value === 'accepted';
const isOptOut = objectOf<{ consent_type: 'do_not_sell_opt_out'; decision: 'accepted' }>({
  consent_type: isSale,
  decision: isAccepted,
});

const isMembers: Guard<Record<string, unknown>> = objectOf<Record<string, unknown>>({});

/** 53 bits (cyrb53 would do as well): enough to tell a person's own records apart. */
function digestOf(text: string): string {
  let one = 1;
  let other = 2;
  for (let at = 0; at < text.length; at += 1) {
    one = Math.imul(one ^ text.charCodeAt(at), 0x01000193);
    other = Math.imul(other ^ text.charCodeAt(at), 0x85ebca6b);
  }
  return (one >>> 0).toString(36) + (other >>> 0).toString(36);
}
