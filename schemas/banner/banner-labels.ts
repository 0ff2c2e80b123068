import { BANNER_CONTROLS, BANNER_NOTICES, type LabelTexts } from './language-texts.js';
import { labels as english } from './languages/en.js';

/** The text of a control, and its language, which differs from that of the banner if no translation is known. */
export type BannerLabel = { readonly text: string; readonly language: string };

/**
 * Returns the texts of the banner's controls from the site's configuration, or else the known ones, or else in English.
 * @param banner texts of the configuration by name
 * @param language language of the configuration (BCP 47)
 * @param known labels in that language, or undefined if there are none
 */
export function bannerLabels(
  banner: Readonly<Record<string, string>>,
  language: string,
  known: LabelTexts | undefined,
): Readonly<Record<string, BannerLabel>> {
  const texts = known ?? english;
  const others = known === undefined ? 'en' : language;
  return Object.fromEntries([
    ...BANNER_CONTROLS.map((name) => [
      name,
      banner[name] ? { text: banner[name], language } : { text: texts[name], language: others },
    ]),
    ...BANNER_NOTICES.map((name) => [name, { text: texts[name], language: others }]),
  ]);
}
