import { randomUUID } from 'node:crypto';
import type { SiteConfigDraft } from '../../../schemas/api/panel/configuration.js';
import type { DraftCookie } from '../../../schemas/api/panel/cookies.js';
import type { ConsentCookie } from '../../../schemas/events/site-config.js';
import { ChangeRefused, invalidChange } from '../../platform/errors.js';
import { type Edit, merged, type Partially } from './edit.js';

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
