import type { BannerConfiguration } from '../../../../schemas/banner/banner-in-language.js';
import {
  BANNER_CONTROLS,
  type LanguageTexts,
  USUAL_CATEGORIES,
  type UsualCategory,
} from '../../../../schemas/banner/language-texts.js';
import type { ConfigurationDraft } from '../../api/types.js';

/** The texts of a configuration, published or not. */
type Texts = Pick<BannerConfiguration, 'banner' | 'withdrawal' | 'categories'>;

/** The texts of languages, without the languages that have none. */
export type TextsByLanguage = ReadonlyMap<string, LanguageTexts>;

/** A text of the banner, and its default. */
interface Place {
  /** For example `title` or `analytics.purpose`. */
  readonly name: string;
  readonly text: string | undefined;
  readonly standard: string;
}

const isUsual = (key: string): key is UsualCategory => USUAL_CATEGORIES.some((one) => one === key);

/** The texts that the banner of a site has by name: heading, text, and controls that any language states itself. */
function namesOf({ banner }: Texts): ReadonlySet<string> {
  return new Set(['title', 'text', ...Object.values(banner).flatMap((texts) => Object.keys(texts))]);
}

/** Defaults of the texts of the banner by name. */
function standardBanner(config: Texts, { labels, defaults }: LanguageTexts): Readonly<Record<string, string>> {
  const names = namesOf(config);
  const controls = BANNER_CONTROLS.filter((name) => names.has(name)).map((name) => [name, labels[name]]);
  return { title: defaults.title, text: defaults.text, ...Object.fromEntries(controls) };
}

function placesOf(config: Texts, language: string, texts: LanguageTexts): readonly Place[] {
  const { withdrawal, categories } = texts.defaults;
  return [
    ...Object.entries(standardBanner(config, texts)).map(([name, standard]) => ({
      name,
      text: config.banner[language]?.[name],
      standard,
    })),
    { name: 'withdrawal', text: config.withdrawal[language], standard: withdrawal },
    ...config.categories.flatMap(({ key, title, purpose }) =>
      isUsual(key)
        ? [
            { name: `${key}.title`, text: title[language], standard: categories[key].title },
            { name: `${key}.purpose`, text: purpose[language], standard: categories[key].purpose },
          ]
        : [],
    ),
  ];
}

/** Names of the texts of a configuration that are the default ones in a language. */
export function defaultsIn(config: Texts, language: string, texts: LanguageTexts): readonly string[] {
  return placesOf(config, language, texts)
    .filter(({ text, standard }) => text === standard)
    .map(({ name }) => name);
}

/**
 * The languages of a draft with default texts or labels that its owner has not published yet.
 * @param before the configuration in force, or null if there is none
 * @param isUnread whether a native speaker has yet to read the defaults of a language
 */
export function unconfirmedIn(
  draft: Texts & { readonly languages: readonly string[] },
  before: (Texts & { readonly languages: readonly string[] }) | null,
  byLanguage: TextsByLanguage,
  isUnread: (language: string) => boolean,
): readonly string[] {
  return draft.languages.filter((language) => {
    const texts = byLanguage.get(language);
    if (texts === undefined || !isUnread(language)) return false;
    // The service states labels in each language, even where all other words are the site's own.
    if (before === null || !before.languages.includes(language)) return true;
    const published = defaultsIn(before, language, texts);
    return defaultsIn(draft, language, texts).some((name) => !published.includes(name));
  });
}

/** The usual categories that a draft does not have. */
export function categoriesToAdd({ categories }: Pick<Texts, 'categories'>): readonly UsualCategory[] {
  return USUAL_CATEGORIES.filter((key) => !categories.some((one) => one.key === key));
}

/**
 * Fills in the default of every empty text. Texts of the site stay as they are.
 * @param added usual categories to add. They state no data, recipients and period, and the lawful basis that the form of
 *   a category begins with; the necessary one, which visitors cannot refuse, cannot rest on consent.
 */
export function withDefaults(
  draft: ConfigurationDraft,
  byLanguage: TextsByLanguage,
  added: readonly UsualCategory[],
): Pick<ConfigurationDraft, 'banner' | 'withdrawal' | 'categories'> {
  const made = added.map((key): ConfigurationDraft['categories'][number] => ({
    key,
    required: key === 'necessary',
    title: {},
    purpose: {},
    lawful_basis: key === 'necessary' ? 'legitimate_interest' : 'consent',
    personal_data: [],
    recipients: [],
    retention_days: null,
  }));
  const filled = (texts: Record<string, string>, standardOf: (texts: LanguageTexts) => string) => ({
    ...texts,
    ...Object.fromEntries(
      [...byLanguage]
        .filter(([language]) => isEmpty(texts[language]))
        .map(([language, known]) => [language, standardOf(known)]),
    ),
  });
  const inBanner = [...byLanguage].map(([language, texts]) => {
    const written = Object.entries(draft.banner[language] ?? {}).filter(([, text]) => !isEmpty(text));
    return [language, { ...standardBanner(draft, texts), ...Object.fromEntries(written) }];
  });
  return {
    banner: { ...draft.banner, ...Object.fromEntries(inBanner) },
    withdrawal: filled(draft.withdrawal, ({ defaults }) => defaults.withdrawal),
    // The necessary category comes first, as visitors expect it.
    categories: [
      ...made.filter(({ required }) => required),
      ...draft.categories,
      ...made.filter(({ required }) => !required),
    ].map((category) => {
      const { key } = category;
      if (!isUsual(key)) return category;
      return {
        ...category,
        title: filled(category.title, ({ defaults }) => defaults.categories[key].title),
        purpose: filled(category.purpose, ({ defaults }) => defaults.categories[key].purpose),
      };
    }),
  };
}

function isEmpty(text: string | undefined): boolean {
  return text === undefined || text.trim() === '';
}
