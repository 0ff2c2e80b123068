import type { ServiceError } from '../shared/service-error.js';
import type { Guard } from './guards.js';

/**
 * Cookies, as a page can read and write them. A jar that is blocked, full or throws reads as empty,
 * and keeps nothing. Every jar passes test/sdk/core/ports.db.test.ts.
 */
export interface Jar {
  /** Every value of the cookies of this name that the page can read, for any domain and path. */
  read(name: string): readonly string[];
  /**
   * Makes this value the only one of this name that the page can read, for as long as the device permits.
   * @returns whether the jar keeps it
   */
  keep(name: string, value: string): boolean;
}

/**
 * Values under names of their own, for one origin. A store that is blocked, full or throws keeps the values of this
 * page for its lifetime, even after the visitor clears the store. Every store passes test/sdk/core/ports.db.test.ts.
 */
export interface Store {
  read<T>(name: string, guard: Guard<T>): T | undefined;
  /** @returns whether later pages can read it */
  write(name: string, value: object | string | number): boolean;
  remove(name: string): void;
  /** Names that begin with a prefix, sorted. */
  names(prefix: string): readonly string[];
}

/** A response of the service, or its absence. */
export interface Answer {
  /** HTTP status; 0 if no answer arrived. */
  readonly status: number;
  readonly body: unknown;
  /** From `Retry-After`, in milliseconds, or null if there is none. */
  readonly retryAfterMs: number | null;
}

/** Signed requests to the service. Every transport passes test/sdk/core/ports.db.test.ts. */
export interface Transport {
  /**
   * Sends a body of any size. The promise always resolves; without a network, to a response with status 0. Leaving the
   * page does not end the request of a small body.
   */
  post(path: string, body: string): Promise<Answer>;
}

/** A request as it goes out. */
export interface NetworkRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined for a GET. */
  readonly body: string | undefined;
}

/** An answer as it arrived. */
export interface NetworkAnswer {
  readonly status: number;
  readonly text: string;
  /** The header `Retry-After`, or null if there is none. */
  readonly retryAfter: string | null;
}

/** Sends one request. It rejects if no complete answer arrives in time. */
export type Network = (request: NetworkRequest) => Promise<NetworkAnswer>;

/** Signs requests, and makes keys and references. Texts are read as UTF-8. */
export interface Cryptography {
  /** Bytes that were never used and cannot be guessed, in lower-case hex. @param bytes number of bytes */
  random(bytes: number): string;
  /** SHA-256 in lower-case hex. */
  sha256(text: string): Promise<string>;
  /** HMAC-SHA256 in lower-case hex. */
  hmac(key: string, text: string): Promise<string>;
}

/** Makes the device keep a choice longer than it would by itself. */
export interface Renewal {
  /** @param isDaily whether once a day is enough @param onEnd called after each attempt */
  renew(isDaily: boolean, onEnd: () => void): void;
  /** Ends an attempt, whose result would bring an earlier choice back. */
  cancel(): void;
}

/** Receives events of a page or an app. */
export interface Watcher {
  /** Something else on this device may have changed the stored values. */
  look(): void;
  /** The page is shown again, or has a network again. */
  resume(): void;
}

/** Everything that differs between a page and an app. The rules are in the core. */
export interface Surroundings {
  readonly jar: Jar;
  readonly store: Store;
  readonly network: Network;
  readonly cryptography: Cryptography;
  /** Unix milliseconds of the visitor's clock. */
  readonly clock: () => number;
  /** Whether the visitor's browser or device sends a signal such as Global Privacy Control. */
  readonly isSignalled: () => boolean;
  /** The language of what the visitor reads (BCP 47), or undefined if that is not known. */
  readonly language: () => string | undefined;
  /** Why nothing can be recorded here, or null if it can. */
  readonly obstacle: () => ServiceError | null;
  /** Tells a developer what it means that the store or the jar kept nothing. */
  readonly notKept: string;
  /** A promise that resolves when the store can be read, or undefined if it can be read at once. */
  readonly ready: (() => Promise<void>) | undefined;
  /** Runs an action while no other page of this device runs one of this name, and after everything is stored. */
  readonly locked: <T>(name: string, action: () => Promise<T>) => Promise<T>;
  /** @returns a function that stops this */
  readonly watch: (watcher: Watcher) => () => void;
  readonly renewal: Renewal | undefined;
  /** Loads a file of the SDK from the service, by its address. */
  readonly load: <T>(address: string) => Promise<T>;
  /** Tells advertisers that no signals will come, so that they do not wait for them. Absent if none listens. */
  readonly iabFailed?: () => void;
  /** Reports a fault of a listener to the page or the app. */
  readonly report: (error: unknown) => void;
}
