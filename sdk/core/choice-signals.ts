import type { BrowserConsent } from '../shared/types.js';
import type { Categories, Choice } from './choice.js';

/** The strings that the page gives to others with a choice, as the record keeps them. */
export type IabStrings = NonNullable<BrowserConsent['iab']>;

/** Expresses choices in the terms of a framework of the advertising industry. */
export interface ChoiceSignals {
  /**
   * @param categories the answer for every category
   * @param now Unix milliseconds
   * @returns undefined if no framework applies to the visitor
   */
  stringsOf(categories: Categories, isOptedOut: boolean, now: number): IabStrings | undefined;
}

/** The part of a consent that is passed on to others. */
export interface SignalledConsent {
  readonly state: {
    readonly status: string;
    readonly choice: Choice | null;
    readonly configuration: {
      readonly language: string;
      readonly region: { country: string | null; compliance_framework: string | null; signal_is_request?: boolean };
      readonly categories: readonly { readonly key: string; readonly rule?: string | undefined }[];
    } | null;
  };
  readonly isGpcOn: boolean;
  /** Whether the visitor has the settings open. */
  readonly areSettingsOpen: boolean;
  /** Whether the visitor opted out of sale and sharing on this origin, or the browser's signal does so by law. */
  readonly isOptedOutOfSale: boolean;
  /** Vendors (`marketing/v2`), purposes (`marketing/p3`) and special features (`marketing/f1`) of the choice's question. */
  readonly asked: readonly (readonly string[])[];
  allows(category: string): boolean;
  subscribe(listener: () => void): () => void;
}

/** The file that a page loads if the site speaks the signals of IAB (`sdk/iab/speak-iab.ts`). */
export interface IabModule {
  /**
   * Tells the page's scripts of each choice by `__tcfapi` and `__gpp`.
   * @param settings `iab` of the configuration @param baseUrl origin of the service
   * @throws Error if the settings or the vendor list cannot be used
   */
  speakIab(consent: SignalledConsent, settings: unknown, baseUrl: string): Promise<ChoiceSignals>;
}
