import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { BannerTexts, SiteConfigDraft } from '../../../schemas/api/panel/configuration.js';
import type { DraftCookie } from '../../../schemas/api/panel/cookies.js';
import type { ConsentCategory, ConsentCookie } from '../../../schemas/events/site-config.js';
import { ChangeRefused, invalidChange } from '../../platform/errors.js';

/**
 * A changed draft and a result about the change. Edits are pure functions; the whole draft is
 * validated when it is stored.
 */
export interface Edit<T> {
  readonly draft: SiteConfigDraft;
  readonly result: T;
}

/** Some members of a value; undefined members remain unchanged. */
export type Partially<T> = { readonly [K in keyof T]?: T[K] | undefined };

/**
 * Applies the defined members of a change.
 * @returns the new value, and the names of the members that differ
 */
export function merged<T extends object>(
  before: T,
  change: Partially<NoInfer<T>>,
): { readonly value: T; readonly changed: readonly string[] } {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const value = { ...before, ...given };
  const changed = Object.entries(given)
    .filter(([name, now]) => !isDeepStrictEqual(now, Reflect.get(before, name)))
    .map(([name]) => name);
  return { value, changed };
}

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

/** Finds a category by its key. @throws ChangeRefused `not_found` */
export function categoryOf({ categories }: SiteConfigDraft, key: string): ConsentCategory {
  const category = categories.find((one) => one.key === key);
  if (category === undefined) throw new ChangeRefused('not_found', `The draft has no category ${key}.`);
  return category;
}

/**
 * Adds a category.
 * @param position position in the banner, from 0; if undefined, the last
 * @throws ChangeRefused `already_exists`
 */
export function addCategory(
  draft: SiteConfigDraft,
  category: ConsentCategory,
  position: number | undefined,
): Edit<ConsentCategory> {
  if (draft.categories.some(({ key }) => key === category.key)) {
    throw new ChangeRefused('already_exists', `The draft already has a category ${category.key}.`);
  }
  return { draft: { ...draft, categories: placed(draft.categories, category, position) }, result: category };
}

/**
 * Changes or moves a category.
 * @returns the edit, with the names of the changed members
 * @throws ChangeRefused `not_found`
 */
export function changeCategory(
  draft: SiteConfigDraft,
  key: string,
  change: Partially<ConsentCategory>,
  position: number | undefined,
): Edit<readonly string[]> {
  const before = categoryOf(draft, key);
  const { changed, value } = merged(before, change);
  const index = draft.categories.indexOf(before);
  const others = draft.categories.filter((one) => one !== before);
  const categories = placed(others, value, position ?? index);
  const isMoved = categories.indexOf(value) !== index;
  return { draft: { ...draft, categories }, result: isMoved ? [...changed, 'position'] : changed };
}

/** Removes a category, also from the rules. @throws ChangeRefused `not_found`, `wrong_state` (a cookie belongs to it) */
export function removeCategory(draft: SiteConfigDraft, key: string): Edit<ConsentCategory> {
  const category = categoryOf(draft, key);
  const cookies = draft.cookies.filter((cookie) => cookie.category === key);
  if (cookies.length > 0) {
    const names = cookies.map(({ name }) => name).join(', ');
    throw new ChangeRefused(
      'wrong_state',
      `The category ${key} has cookies: ${names}. Move them to another category first.`,
    );
  }
  const rules = draft.rules?.map(({ categories: { [key]: _, ...others }, ...rule }) => ({
    ...rule,
    categories: others,
  }));
  const categories = draft.categories.filter((one) => one !== category);
  return { draft: { ...draft, categories, ...(rules && { rules }) }, result: category };
}

function placed<T>(list: readonly T[], item: T, position: number = list.length): T[] {
  return [...list.slice(0, position), item, ...list.slice(position)];
}

/** Finds a cookie by its id. @throws ChangeRefused `not_found` */
export function cookieOf({ cookies }: SiteConfigDraft, id: string): DraftCookie {
  const cookie = cookies.find((one) => one.id === id);
  if (cookie === undefined) throw new ChangeRefused('not_found', `The draft has no cookie ${id}.`);
  return cookie;
}

/**
 * Adds a cookie.
 * @throws ChangeRefused `already_exists` (name and provider), `invalid` (unknown category)
 */
export function addCookie(draft: SiteConfigDraft, cookie: ConsentCookie): Edit<DraftCookie> {
  const result = { ...cookie, id: randomUUID() };
  refuseCookie(draft, result);
  return { draft: { ...draft, cookies: [...draft.cookies, result] }, result };
}

/**
 * Changes a cookie.
 * @returns the edit, with the names of the changed members
 * @throws ChangeRefused `not_found`, `already_exists`, `invalid`
 */
export function changeCookie(
  draft: SiteConfigDraft,
  id: string,
  change: Partially<ConsentCookie>,
): Edit<readonly string[]> {
  const before = cookieOf(draft, id);
  const { changed, value } = merged(before, change);
  refuseCookie(draft, value);
  return { draft: { ...draft, cookies: draft.cookies.map((one) => (one === before ? value : one)) }, result: changed };
}

/** Removes a cookie. @throws ChangeRefused `not_found` */
export function removeCookie(draft: SiteConfigDraft, id: string): Edit<DraftCookie> {
  const cookie = cookieOf(draft, id);
  return { draft: { ...draft, cookies: draft.cookies.filter((one) => one !== cookie) }, result: cookie };
}

function refuseCookie({ categories, cookies }: SiteConfigDraft, { id, name, provider, category }: DraftCookie): void {
  if (cookies.some((one) => one.id !== id && one.name === name && one.provider === provider)) {
    throw new ChangeRefused('already_exists', `The draft already has a cookie ${name} of ${provider}.`);
  }
  if (!categories.some(({ key }) => key === category)) {
    throw invalidChange({ field: 'category', message: `the draft has no category ${category}` });
  }
}
