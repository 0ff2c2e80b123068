import { vi } from 'vitest';
import * as z from 'zod';
import { openAccount } from '../../sdk/account/account.js';
import { ModelBrowser } from '../../sdk/conformance/src/browser.js';
import { configurationOf } from '../../sdk/conformance/src/site.js';
import { ConsentCore } from '../../sdk/core/consent.js';
import { quietPage } from '../sdk/core/model/quiet-page.js';
import { AccountService } from './account-service.js';
import type { Fault } from './planted-faults.js';

const ADDRESS = { protocol: 'https:', hostname: 'www.shop.example', pathname: '/' };
export const PERSON = 'person-1';
const Body = z.looseObject({});

/** One service, and devices whose pages are opened and closed. Time goes on by a minute with each step. */
export class Household {
  readonly service: AccountService;
  readonly #devices = new Map<string, Device>();
  law: 'gdpr' | 'ccpa' = 'gdpr';
  /** The rule of the place by category, in place of consent: `opt_out` or `exempt`. */
  rules: Readonly<Record<string, string>> = {};

  constructor(readonly fault: Fault = {}) {
    this.service = new AccountService(() => Date.now(), fault.believesScope);
  }

  device(name: string): Device {
    const known = this.#devices.get(name) ?? new Device(this);
    this.#devices.set(name, known);
    return known;
  }
}

/** A browser with tabs of the site. */
export class Device {
  readonly browser = new ModelBrowser(() => Date.now());
  isSignalled = false;
  hasNetwork = true;
  /** Whether the answer about the account is on its way. */
  isHeldUp = false;
  /** How long an answer about the account is on its way, and twice what a consent needs to arrive. */
  delayMs = 0;
  readonly #tabs: Tab[] = [];

  constructor(readonly household: Household) {}

  /** Opens the page in a new tab. @param person who is signed in */
  async open(person?: string): Promise<Tab> {
    later();
    const tab = new Tab(this, person);
    this.#tabs.push(tab);
    const started = tab.consent.start();
    await settled();
    if (!this.isHeldUp) await started;
    return tab;
  }

  /** Tells the other tabs that something was stored, as a browser does. */
  async wrote(): Promise<void> {
    for (const tab of this.#tabs) tab.look();
    await settled();
  }

  /** The network is there again. */
  async resume(): Promise<void> {
    for (const { consent } of this.#tabs) consent.resume();
    await settled();
    await this.wrote();
  }

  close(tab: Tab): void {
    tab.consent.stop();
    this.#tabs.splice(this.#tabs.indexOf(tab), 1);
  }
}

export class Tab {
  readonly consent: ConsentCore;
  look: () => void = () => undefined;

  constructor(
    readonly device: Device,
    public person: string | undefined,
  ) {
    const { household, browser } = device;
    this.consent = new ConsentCore(
      {
        baseUrl: 'https://consent.example.org',
        apiKey: 'svc_live_x',
        configurationMaxAge: 0,
        accounts: household.fault.accounts ?? { openAccount },
        ...(person !== undefined && { person: this.#personOf(person) }),
      },
      {
        ...quietPage(browser, ADDRESS),
        isSignalled: () => device.isSignalled,
        network: async ({ url, body, headers }) => {
          if (!device.hasNetwork) throw new TypeError('no network');
          const { pathname, searchParams } = new URL(url);
          const delay = (ms: number) => ms > 0 && new Promise((resolve) => setTimeout(resolve, ms));
          if (body !== undefined) await delay(device.delayMs / 2);
          if (body !== undefined)
            return answer(household.service.record(Body.parse(JSON.parse(body)), household.rules));
          if (pathname === '/tool/v1/config')
            return answer({
              status: 200,
              data: {
                ...configurationOf({ law: household.law, rules: household.rules }),
                accounts: { person_space: null },
              },
            });
          if (device.isHeldUp) return new Promise<never>(() => undefined);
          const visitor = searchParams.get('visitor_id') ?? '';
          const type = searchParams.get('consent_type') ?? undefined;
          const found = answer(household.service.status(visitor, headers['X-Person-Token'], type));
          await delay(device.delayMs);
          return found;
        },
        watch: ({ look }) => {
          this.look = look;
          return () => undefined;
        },
        report: (error) => {
          throw error;
        },
      },
    );
  }

  async signIn(person: string): Promise<void> {
    later();
    this.person = person;
    await this.consent.signIn(this.#personOf(person));
    await settled();
  }

  async signOut(): Promise<void> {
    later();
    this.person = undefined;
    await this.consent.signOut();
    await settled();
  }

  /** @returns when, or null if nothing can be decided, because nothing is known */
  async act(act: 'accept' | 'partial' | 'refuse' | 'opt_out'): Promise<number | null> {
    later();
    const { consent } = this;
    if (consent.state.configuration === null || consent.state.status === 'unavailable') return null;
    const at = Date.now();
    if (act === 'accept') ignore(consent.acceptAll());
    else if (act === 'partial') ignore(consent.choose({ analytics: true, marketing: false }));
    else if (act === 'refuse') ignore(consent.rejectAll());
    else ignore(consent.optOutOfSale());
    await settled();
    await this.device.wrote();
    return at;
  }

  get outcome() {
    const { consent } = this;
    const { status, choice } = consent.state;
    const isAsked = status === 'needed';
    return {
      runs: consent.allows('marketing') ? 'yes' : 'no',
      opted_out: consent.isOptedOutOfSale ? 'yes' : 'no',
      asks: status === 'loading' ? 'loading' : isAsked ? (choice === null ? 'first' : 'both') : 'no',
    };
  }

  #personOf(id: string) {
    return {
      id,
      token: async () => {
        if (!this.device.hasNetwork) throw new TypeError('no network');
        return this.device.household.service.mint(id);
      },
    };
  }
}

export function later(): void {
  vi.setSystemTime(Date.now() + 60_000);
}

/** Lets everything happen that needs no time. */
export async function settled(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
  await vi.advanceTimersByTimeAsync(0);
}

function ignore(answered: Promise<unknown>): void {
  answered.catch(() => undefined);
}

function answer({ status, ...body }: { readonly status: number; readonly [member: string]: unknown }) {
  return { status, text: JSON.stringify(body), retryAfter: null };
}
