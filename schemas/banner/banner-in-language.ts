import type { CategoryRule, SiteConfigPublishedRecord, SiteRule } from '../events/site-config.js';
import { ownMember } from '../json/own-member.js';
import { directionOf } from '../language/direction.js';
import { matchLanguage } from '../language/match-language.js';
import { bannerLabels } from './banner-labels.js';
import type { LabelTexts } from './language-texts.js';

/** The members of a configuration from which the banner is drawn. */
export type BannerConfiguration = Pick<
  SiteConfigPublishedRecord,
  'banner' | 'withdrawal' | 'categories' | 'service_switches' | 'cookies' | 'languages' | 'controller' | 'appearance'
>;

/**
 * Puts the banner of a configuration into one language, as pages read it from the service. Texts that are missing in
 * the language come from another one.
 * @param language one of the configuration
 * @param fallback language of texts that are missing
 * @param known the labels in `language`, or undefined if there are none
 * @param rule the site's rule for the place of the person, or null if there is none
 */
export function bannerInLanguage(
  configuration: BannerConfiguration,
  language: string,
  fallback: string,
  known: LabelTexts | undefined,
  rule: SiteRule | null = null,
) {
  const { categories, cookies, controller, languages, appearance, service_switches: switches } = configuration;
  const inLanguage = (texts: Readonly<Record<string, string>>): string => texts[language] ?? texts[fallback] ?? '';
  const banner = configuration.banner[language] ?? configuration.banner[fallback] ?? {};
  return {
    language,
    languages,
    direction: directionOf(language),
    controller,
    banner,
    labels: bannerLabels(banner, language, known),
    withdrawal: inLanguage(configuration.withdrawal),
    appearance: appearance ?? null,
    ...(switches === undefined ? {} : { service_switches: switches }),
    categories: categories.map((category) => ({
      ...category,
      title: inLanguage(category.title),
      purpose: inLanguage(category.purpose),
      ...applying(ownMember(rule?.categories, category.key), inLanguage),
      cookies: cookies
        .filter((cookie) => cookie.category === category.key)
        .map(({ category: _, ...cookie }) => ({ ...cookie, purpose: inLanguage(cookie.purpose) })),
    })),
  };
}

function applying(rule: CategoryRule | undefined, inLanguage: (texts: Readonly<Record<string, string>>) => string) {
  if (rule === undefined || rule.rule === 'opt_in') return {};
  return rule.rule === 'exempt' ? { rule: rule.rule, ground: inLanguage(rule.ground) } : { rule: rule.rule };
}

/**
 * Puts the banner into the language in which it was stated to have been shown, under the rule by which it was stated to
 * have asked.
 * @param stated any text: the program that asked made the claim
 * @param labelsOf finds the labels in a language
 * @returns null if the configuration does not have the language; its words then cannot have been shown in that language
 */
export function bannerInStatedLanguage(
  configuration: BannerConfiguration &
    Pick<SiteConfigPublishedRecord, 'default_language'> & { readonly rules?: readonly SiteRule[] | undefined },
  stated: { readonly language: string; readonly rule: string | undefined },
  labelsOf: (language: string) => LabelTexts | undefined,
) {
  const language = matchLanguage(configuration.languages, [stated.language]);
  if (language === undefined) return null;
  const rule = configuration.rules?.find(({ id }) => id === stated.rule);
  return bannerInLanguage(configuration, language, configuration.default_language, labelsOf(language), rule);
}
