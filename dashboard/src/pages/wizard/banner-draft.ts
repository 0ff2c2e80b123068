import type { Appearance } from '../../../../schemas/banner/appearance.js';
import { USUAL_CATEGORIES } from '../../../../schemas/banner/language-texts.js';
import { DEFAULT_APPEARANCE } from '../../../../sdk/banner/default-appearance.js';
import type { ConfigurationDraft } from '../../api/types.js';
import { categoriesToAdd, type TextsByLanguage, withDefaults } from '../banner/default-texts.js';

/** What the user chose for the banner. */
export interface BannerChoice {
  readonly legalName: string;
  readonly contact: string;
  /** In the order of the list; not empty. */
  readonly languages: readonly string[];
  readonly defaultLanguage: string;
  /** Keys of the usual categories. */
  readonly categories: readonly string[];
  readonly layout: string;
  readonly scheme: string;
  readonly timeZone: string | undefined;
}

export const LAYOUTS = ['bar', 'box', 'dialog'] as const satisfies readonly Appearance['layout'][];
export const SCHEMES = ['auto', 'light', 'dark'] as const satisfies readonly Appearance['scheme'][];

/**
 * Returns the draft of a banner with what was chosen, and the default texts where the site has none. What the draft
 * already says beside that stays.
 * @param texts the default texts of the chosen languages
 */
export function chosenDraft(
  draft: ConfigurationDraft,
  choice: BannerChoice,
  texts: TextsByLanguage,
): ConfigurationDraft & { readonly appearance: Appearance } {
  const before = draft.appearance ?? DEFAULT_APPEARANCE;
  // A usual category that is no longer ticked goes; a category of the site's own stays.
  const categories = draft.categories.filter(
    ({ key }) => !USUAL_CATEGORIES.some((one) => one === key) || choice.categories.includes(key),
  );
  const begun = { ...draft, languages: [...choice.languages], categories };
  return {
    ...begun,
    default_language: choice.defaultLanguage,
    ...(choice.timeZone !== undefined && { time_zone: choice.timeZone }),
    controller: { legal_name: choice.legalName.trim(), contact: choice.contact.trim() },
    appearance: {
      ...before,
      layout: LAYOUTS.find((one) => one === choice.layout) ?? before.layout,
      scheme: SCHEMES.find((one) => one === choice.scheme) ?? before.scheme,
    },
    ...withDefaults(
      begun,
      texts,
      categoriesToAdd(begun).filter((key) => choice.categories.includes(key)),
    ),
  };
}
