/**
 * Controls and captions of the banner, and of the placeholder of embedded content. A site may state their texts in its
 * configuration, under the same names. In `allow_all` and `allow`, `{0}` stands for what is permitted; in `receives`,
 * for who gets the data.
 */
export const BANNER_CONTROLS = [
  'accept',
  'reject',
  'object',
  'settings',
  'save',
  'always_on',
  'cookies',
  'close',
  'saved',
  'language',
  'proof',
  'recipients',
  'storage_period',
  'until_closed',
  'load_once',
  'allow_all',
  'receives',
  'service_policy',
  'allow',
] as const;

/**
 * What the choice of an account means: its scope, and the sites that share it; that it applies on a device where the
 * person signed in; and that it differs from that of the device, with both choices. The name of the person space follows
 * `account_space` and a colon.
 */
const ACCOUNT_LABELS = [
  'account_scope',
  'account_space',
  'account_applies',
  'account_differs',
  'this_device',
  'your_account',
  'nothing_optional',
] as const;

/**
 * Words that a site cannot change. Notices of the banner: that a signal of the browser was processed as an opt-out (CCPA
 * regulations, §7025(c)(6)), and that it ended what an earlier choice permitted (§7025(c)(3)). The link to the opt-out
 * (§7015(b)), and the dialog that it opens: its button (§7013(e)), which takes the opt-out back afterwards, and the state.
 * The words about the choice of an account.
 */
export const BANNER_NOTICES = [
  'opt_out',
  'opt_out_conflict',
  'privacy_choices',
  'do_not_sell',
  'allow_sale',
  'opted_out',
  'opted_out_by_signal',
  'not_opted_out',
  ...ACCOUNT_LABELS,
] as const;

/**
 * The words of controls and notices in one language. The service gives them to every banner. Whoever changes the words
 * of a notice must increase `NOTICE_VERSION`.
 */
export type LabelTexts = Readonly<Record<(typeof BANNER_CONTROLS | typeof BANNER_NOTICES)[number], string>>;

/** Keys of the categories that most sites have. */
export const USUAL_CATEGORIES = ['necessary', 'preferences', 'analytics', 'marketing'] as const;
export type UsualCategory = (typeof USUAL_CATEGORIES)[number];

/**
 * What a site can say in one language before it has its own words. A site adopts these texts into its draft, and
 * publishes them as its own. They state no fact of a site: no period, no recipient, no country, no law.
 */
export interface DefaultTexts {
  readonly title: string;
  readonly text: string;
  readonly withdrawal: string;
  readonly categories: Readonly<Record<UsualCategory, { readonly title: string; readonly purpose: string }>>;
}

/** A file of `languages`. The form of address is the polite one where web pages of the language use it. */
export interface LanguageTexts {
  readonly labels: LabelTexts;
  readonly defaults: DefaultTexts;
}
