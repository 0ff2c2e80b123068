import type { SiteConfigDraft } from '../../../schemas/api/panel/configuration.js';
import type { ConsentCategory } from '../../../schemas/events/site-config.js';
import { ChangeRefused } from '../../platform/errors.js';
import { type Edit, merged, type Partially } from './edit.js';

/** Finds a category by its key. @throws ChangeRefused `not_found` */
export function categoryOf({ categories }: SiteConfigDraft, key: string): ConsentCategory {
  const category = categories.find((one) => one.key === key);
  if (category === undefined) throw new ChangeRefused('not_found', `The draft has no category ${key}.`);
  return category;
}

/**
 * Adds a category.
 * @param position in the banner, from 0; undefined: the last
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

/** Removes a category. @throws ChangeRefused `not_found`, `wrong_state` (a cookie belongs to it) */
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
  return { draft: { ...draft, categories: draft.categories.filter((one) => one !== category) }, result: category };
}

function placed<T>(list: readonly T[], item: T, position: number = list.length): T[] {
  return [...list.slice(0, position), item, ...list.slice(position)];
}
