import type { Configuration, Label } from './answers.js';
import type { Guard } from './guards.js';
import type { Store } from './ports.js';

/** A person who is signed in at the site, and for whom its backend vouches. */
export interface Person {
  /** The site's reference for the person, at most 100 characters. */
  readonly id: string;
  /** Returns a new person token of the site's backend (docs/accounts.md). */
  readonly token: () => Promise<string>;
}

/** What a page says about the choice of the account. */
export interface AccountTexts {
  /** Stands beside the question: for whom it is asked, and how the two choices differ. */
  readonly line: Label;
  /** Said once on a device: that the account's choice applies there. */
  readonly told?: Label | undefined;
}

/** What the account needs of the page or app. Its names are those of a file of its own, so none of them is shortened. */
export interface AccountPorts {
  /** The configuration that was read for the visitor's place. */
  readonly configuration: Configuration;
  readonly store: Store;
  readonly service: {
    /** Unix milliseconds, by the clock of the service as far as it is known. */
    now(): number;
    /** Reads from the service. @throws ServiceError */
    get<T>(path: string, guard: Guard<T>, headers: Readonly<Record<string, string>>): Promise<T>;
  };
  /** Whether the browser sends Global Privacy Control. */
  readonly signal: () => boolean;
  /** The texts of the device's own choice. */
  readonly texts: () => readonly string[];
  /** Replaces the device's own choice. */
  readonly replace: (text: string) => void;
  /** Called when another page of this device changed its choice, so that the account's may have changed as well. */
  readonly onStale: () => unknown;
}

/** The account's choice on one page, together with that of the device. */
export interface Account {
  /** Values under names of their own. Only consents that wait for the service stay on the device. */
  readonly store: Store;
  /** The text of the choice that counts, or none. */
  texts(): readonly string[];
  /** Keeps what a page made of that choice: the account's, and what a refusal ends on the device. */
  replace(text: string): boolean;
  /** A body with a new person token, or null if none can be had. */
  readonly vouched: (body: string) => Promise<string | null>;
  said(configuration: Configuration): AccountTexts;
}

/** The file that a page loads when somebody signs in (`sdk/account`). */
export interface AccountModule {
  /**
   * Reads the account's choice.
   * @returns undefined if the site has no accounts
   * @throws ServiceError; what the token's function throws
   */
  openAccount(person: Person, ports: AccountPorts): Promise<Account | undefined>;
}
