import type { BannerTexts, SiteConfigDraft } from '../../../schemas/api/panel/configuration.js';
import { ChangeRefused } from '../../platform/errors.js';
import type { Edit } from './edit.js';

/** The languages of the site and of the draft's texts, sorted. */
export function bannerLanguages({ languages, banner, withdrawal }: SiteConfigDraft): readonly string[] {
  return [...new Set([...languages, ...Object.keys(banner), ...Object.keys(withdrawal)])].sort();
}

/** The texts of one language. @throws ChangeRefused `not_found` */
export function bannerTextsOf(draft: SiteConfigDraft, language: string): BannerTexts {
  if (!bannerLanguages(draft).includes(language)) {
    throw new ChangeRefused('not_found', `The draft has no texts in ${language}.`);
  }
  return { language, texts: draft.banner[language] ?? {}, withdrawal: draft.withdrawal[language] ?? null };
}

/** Replaces the texts of one language. @returns the edit, with the names of the changed texts */
export function putBannerTexts(
  draft: SiteConfigDraft,
  { language, texts, withdrawal }: BannerTexts,
): Edit<readonly string[]> {
  const without = withoutLanguage(draft, language);
  const before = draft.banner[language] ?? {};
  const names = [...new Set([...Object.keys(before), ...Object.keys(texts)])];
  const changed = names.filter((name) => before[name] !== texts[name]).map((name) => `texts.${name}`);
  return {
    draft: {
      ...without,
      banner: { ...without.banner, [language]: texts },
      withdrawal: withdrawal === null ? without.withdrawal : { ...without.withdrawal, [language]: withdrawal },
    },
    result: withdrawal === (draft.withdrawal[language] ?? null) ? changed : [...changed, 'withdrawal'],
  };
}

/** Removes the texts of one language. @throws ChangeRefused `not_found` */
export function removeBannerTexts(draft: SiteConfigDraft, language: string): Edit<BannerTexts> {
  const result = bannerTextsOf(draft, language);
  return { draft: withoutLanguage(draft, language), result };
}

function withoutLanguage(draft: SiteConfigDraft, language: string): SiteConfigDraft {
  const { [language]: _, ...banner } = draft.banner;
  const { [language]: __, ...withdrawal } = draft.withdrawal;
  return { ...draft, banner, withdrawal };
}
