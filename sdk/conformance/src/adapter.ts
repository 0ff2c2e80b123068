import type { ModelBrowser } from './browser.js';

type Answers = Readonly<Record<string, boolean>>;

/** An SDK for a framework or a platform, as the suite runs it. */
export interface Adapter {
  /** Stands in what the suite prints. */
  readonly name: string;
  /**
   * Opens a page or an app that asks on this device, in English. The suite calls it again for each next start, after
   * `close`, and for each device.
   */
  open(device: Device): OpenConsent | Promise<OpenConsent>;
}

/** What the suite gives to an adapter: a device, its network, and what it keeps. */
export interface Device {
  /** Address of the service, for the options of the SDK. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Reaches the service of the suite alone. The global `fetch` is another one, unless `installPage` was called. */
  readonly fetch: (url: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** Unix milliseconds. The suite also replaces `Date.now`, the timers and `Math.random` of its process. */
  readonly now: () => number;
  /** Whether the visitor's browser or device refuses beforehand, as Global Privacy Control does. */
  readonly isSignalled: () => boolean;
  /** Bytes that were never used. They can be guessed, so that a sequence is the same each time. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** Texts that an app keeps on the device. */
  readonly storage: DeviceStorage;
  /** Cookies and storage of a browser, for an SDK on pages. `installPage` puts them into the globals. */
  readonly browser: ModelBrowser;
  /** Lets the suite wait for something that needs no time of the visitor, such as a digest in another thread. */
  readonly during: <T>(work: Promise<T>) => Promise<T>;
  /** Calls a function when the case has ended. */
  readonly atEnd: (end: () => void) => void;
  /** Replaces clock, timers and `Math.random` of a window that the adapter opened. */
  readonly installClock: (target: typeof globalThis) => void;
}

/** Texts under names of their own, which survive the end of the app. */
export interface DeviceStorage {
  keys(): Promise<readonly string[]>;
  /** @returns null for a name without a text */
  get(name: string): Promise<string | null>;
  set(name: string, text: string): Promise<void>;
  remove(name: string): Promise<void>;
}

/** A person who is signed in. */
export interface Person {
  readonly id: string;
  readonly token: () => Promise<string>;
}

/** What a visitor or a page sees of a choice. */
export interface SeenState {
  /** `loading`, `needed`, `signalled`, `unasked`, `chosen` or `unavailable`. */
  readonly status: string;
  /** The choice in force, or null if there is none. */
  readonly choice: {
    readonly decision: string;
    readonly categories: Answers;
    readonly services?: Answers | undefined;
    readonly consent_token?: string | undefined;
  } | null;
  readonly error: { readonly code: string } | null;
}

/**
 * An SDK on a page or in an app that is open. An action counts at once; what it returns is ignored, also if it rejects.
 */
export interface OpenConsent {
  readonly state: SeenState;
  /** Whether content of a category runs. */
  allows(category: string): boolean;
  /** Whether content of a service runs. */
  allowsService(service: string): boolean;
  /** @param services the answers for services; one that is not named has the answer of its category */
  choose(categories: Answers, services?: Answers): unknown;
  acceptAll(): unknown;
  rejectAll(): unknown;
  /** Opts out of sale and sharing, or takes that back. */
  optOutOfSale(isOptedOut: boolean): unknown;
  /** Somebody is signed in, for whom the backend of the site makes person tokens. */
  signIn(person: Person): unknown;
  /** Nobody is signed in any more. */
  signOut(): unknown;
  /** The page is shown again, or has a network again. */
  resume(): unknown;
  /** The page or the app ends. What it kept stays on the device. */
  close(): unknown;
  /**
   * What else two SDKs must agree on in `sameAs`, after each action: for example what waits to be sent. Names of 32 hex
   * digits are compared by their order. A promise may take no time of the visitor.
   */
  details?(): unknown;
}
