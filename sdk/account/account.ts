import type { Account, AccountModule, AccountPorts, AccountTexts, Person } from '../core/account.js';
import type { Configuration } from '../core/answers.js';
import { type Kept, someAnswer } from '../core/choice.js';
import { readChoice, writeChoice } from '../core/choice-text.js';
import { RECORD } from '../core/consent-queue.js';
import { isMembers, parseJson } from '../core/guards.js';
import { newestOf } from '../core/newest.js';
import { isQueued, QUEUE } from '../core/queue.js';
import { beside, ended } from '../core/transitions.js';
import { AccountStore } from './account-store.js';
import { both } from './both.js';
import { type MarkKind, Marks, TAKEN_BACK, TOLD } from './marks.js';
import { accountChoice, readAccount } from './status.js';
import { accountsOf, textsOf } from './texts.js';
import { isOptOut, isPassed, waitingOf } from './waiting.js';

/*
 * The choice of whoever is signed in (docs/accounts.md), as a page needs it: `openAccount` reads it, `texts` says what
 * counts of it and of the device's choice, `replace` takes what the page makes of that, and `vouched` adds the token
 * with which it is recorded.
 */

/** A consent that is sent within this time cannot have been passed by one of another device. */
const AT_ONCE_MS = 30_000;

/** @see AccountModule */
export const openAccount: AccountModule['openAccount'] = async (person, ports) => {
  if (accountsOf(ports.configuration) === undefined) {
    console.warn('Consent Ledger: signIn: the configuration of the site has no accounts.');
    return undefined;
  }
  const store = new AccountStore(person, ports.store);
  // It may be recorded after the service answers here, and before that is known.
  const sent = store.kept;
  const texts = ports.texts().join();
  const consents = await readAccount(person, ports, await person.token());
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

/**
 * The account's choice and that of the device, as one choice for the rules of a page. What a page makes of it becomes
 * the account's, and a refusal also ends what the device permitted before.
 */
class OpenAccount implements Account {
  readonly store: AccountStore;
  readonly #person: Person;
  readonly #ports: AccountPorts;
  readonly #marks: Marks;
  /** The account's choice as the service has it. */
  readonly #recorded: Kept | null;
  /** The account's choice as this page made it. */
  #made: Kept | null;
  /** The texts of the device's choice that the page knows. */
  #known: string;
  /** Whether another page changed the device's choice. Nothing is permitted until the account is read again. */
  #isStale = false;
  /** The choice that counts, and its text. */
  #shown: Kept | null = null;
  #text: string | undefined;
  /** Whether the person learns on this page that the account's choice applies here. */
  readonly #isTold: boolean;

  /** @param waiting what was chosen here, and waited for the service until now */
  constructor(person: Person, ports: AccountPorts, recorded: Kept | null, store: AccountStore, waiting: Kept | null) {
    this.#person = person;
    this.#ports = ports;
    this.#marks = new Marks(ports.store, ports.signal);
    this.#recorded = recorded;
    this.store = store;
    store.onAdded = (body) => {
      if (isOptOut(waitingOf(body))) this.#endDevice(true);
    };
    this.#known = ports.texts().join();
    this.#made = waiting;
    // It arrived, although its answer did not.
    if (recorded && waiting && isSame(waiting, recorded) && this.#isLater(waiting)) this.#see(recorded);
    this.texts();
    const applied = this.#appliedUnseen();
    if (applied !== null) this.#see(applied, TOLD);
    this.#isTold = applied !== null;
  }

  texts(): readonly string[] {
    const texts = this.#ports.texts().join();
    if (texts !== this.#known && !this.#isStale) {
      this.#isStale = true;
      // Not while the page handles what it saw.
      Promise.resolve().then(this.#ports.onStale);
    }
    const now = this.#ports.service.now();
    const account = this.#account;
    this.#shown = this.#isStale
      ? ended(this.#shown, now, false)
      : both(this.#deviceBeside(account), account, this.#isSettled(account), now);
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
    const isMade = account !== null && this.#isMade(account);
    this.#made = isAct ? next : isMade ? { ...noted, ...recordOf(next) } : noted;
    this.store.keep(writeChoice(this.#made));
    if (!isAct && shown?.opt_out && next.opt_out === false && account?.consent_token) this.#see(account, TAKEN_BACK);
    if (isAct && isRefusal(next)) this.#endDevice(false);
    if (isMade && !isAct && next.consent_token !== undefined && this.#isLater(account)) this.#see(next);
    return true;
  }

  readonly vouched = async (body: string): Promise<string | null> => {
    const stated = parseJson(body, isMembers);
    // An approval token names the person already.
    if (stated === undefined || 'approval_token' in stated) return body;
    const waiting = waitingOf(body);
    try {
      const token = await this.#person.token();
      const hasWaited = waiting && this.#ports.service.now() - waiting.at > AT_ONCE_MS;
      const consents = hasWaited ? await readAccount(this.#person, this.#ports, token) : [];
      const own = this.store.names(RECORD);
      const others = consents.filter(({ consent_token }) => !own.includes(RECORD + consent_token));
      if (isPassed(waiting, others)) {
        this.#ports.onStale();
        return null;
      }
      return JSON.stringify({ ...stated, person_token: token });
    } catch {
      return null;
    }
  };

  said(configuration: Configuration): AccountTexts {
    return textsOf(configuration, {
      device: this.#device,
      account: this.#account,
      differs: this.#shown?.differs,
      isTold: this.#isTold,
    });
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
    // It is recorded as the latest, once it arrives.
    if (made !== null && waiting !== null && isRefusal(made)) return { ...made, at: recorded.at + 1 };
    if (!signal()) return recorded;
    // Chosen on this device although its signal was on.
    if (this.#isSeen(recorded)) return { ...recorded, isSignalled: true };
    // The signal is on record already, and what was permitted elsewhere does not count beside it.
    const isOnRecord = configuration.region.signal_is_request && recorded.opt_out === true;
    return isOnRecord ? { ...recorded, isSignalled: true, isVoid: recorded.isVoid || recorded.isPermitted } : recorded;
  }

  /** Whether the account's choice was made here, so that the device's own is no other opinion. */
  #isSettled(account: Kept | null): boolean {
    if (account === null || account.isVoid) return false;
    return this.#isMade(account) ? this.#isLater(account) : this.#isSeen(account);
  }

  /** Whether the account's choice is another one than the service had when it was read. */
  #isMade({ at }: Kept): boolean {
    return at !== this.#recorded?.at;
  }

  /** The account's choice, if it applies here and the person was not told so. */
  #appliedUnseen(): Kept | null {
    const shown = this.#shown;
    const account = this.#account;
    const { configuration, signal } = this.#ports;
    const heeds = shown?.isPermitted || configuration.region.signal_is_request;
    const isBlocked = heeds && signal() && !shown?.isSignalled;
    if (account === null || account.isVoid || shown?.differs || isBlocked) return null;
    return this.#isSeen(account) || this.#isSeen(account, TOLD) ? null : account;
  }

  /** Whether what was decided on this device is later than the device's own choice. */
  #isLater({ at }: Kept): boolean {
    return at >= (this.#device?.at ?? 0);
  }

  #isSeen(account: Kept, kind?: MarkKind): boolean {
    return this.#marks.has(account, this.#device, kind);
  }

  /** Notes that the account's choice is known to apply beside the device's own, as that is now. */
  #see(account: Kept, kind?: MarkKind): void {
    this.#marks.add(account, this.#device, kind);
  }

  /** Ends what the device permitted, because somebody who is signed in refused on it. */
  #endDevice(isOptOut: boolean): void {
    const { replace, texts, service } = this.#ports;
    replace(writeChoice(withoutOlder(this.#device, isOptOut, service.now())));
    this.#known = texts().join();
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

/** Whether one choice answers what the other does, in the same way. */
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
