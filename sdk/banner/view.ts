/** Colours in one colour scheme, each as `#rrggbb`. `on_` stands for the text on a button. */
export interface Palette {
  readonly background: string;
  readonly text: string;
  readonly border: string;
  readonly accept: string;
  readonly on_accept: string;
  readonly reject: string;
  readonly on_reject: string;
}

/** Layout and theme, as a site's configuration states them. */
export interface Appearance {
  readonly layout: 'bar' | 'box' | 'dialog';
  readonly side: 'start' | 'end';
  readonly scheme: 'auto' | 'light' | 'dark';
  readonly light: Palette;
  readonly dark: Palette;
  /** Pixels. */
  readonly radius: number;
  readonly font: 'system' | 'serif' | 'monospace';
}

/** Text of a control and its language. */
export interface Label {
  readonly text: string;
  readonly language: string;
}

/** A notice as a record states it. */
export interface Notice extends Label {
  readonly version: number;
}

export interface ViewedCookie {
  readonly name: string;
  readonly provider: string;
  readonly duration_seconds: number | null;
  readonly purpose: string;
}

export interface ViewedService {
  readonly key: string;
  readonly name: string;
  readonly recipient: string;
  /** Nothing but an address of https is linked. */
  readonly policy_url: string | null;
}

export interface ViewedCategory {
  readonly key: string;
  readonly required: boolean;
  /** The rule of the place, if the category does not wait for consent. */
  readonly rule?: string | undefined;
  /** Why an exempt category runs without consent. */
  readonly ground?: string | undefined;
  readonly title: string;
  readonly purpose: string;
  readonly recipients: readonly string[];
  readonly cookies: readonly ViewedCookie[];
  readonly services?: readonly ViewedService[] | undefined;
}

/**
 * Everything that the banner is drawn from: a configuration in one language, and the policy that the configuration
 * names.
 */
export interface BannerView {
  readonly language: string;
  readonly languages: readonly string[];
  readonly direction: 'ltr' | 'rtl';
  readonly banner: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, Label | undefined>>;
  readonly withdrawal: string | null;
  /** Id of the site's rule for the place, if one matches. */
  readonly rule_id?: string | undefined;
  readonly controller: { readonly legal_name: string; readonly contact: string };
  readonly categories: readonly ViewedCategory[];
  /** Whether each service of an optional category has a switch of its own. */
  readonly service_switches?: boolean | undefined;
  readonly appearance: Appearance;
  /** What the choice of the account means, or undefined if nobody is signed in. */
  readonly account?: Label | undefined;
  /** Title of the cookie policy and its language, or null if there is none. */
  readonly policy: { readonly title: string; readonly language: string } | null;
}
