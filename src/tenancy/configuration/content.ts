import type { SiteConfigDraft } from '../../../schemas/api/panel/configuration.js';
import type { SiteConfigPublishedRecord } from '../../../schemas/events/site-config.js';

/** What a configuration says: the record without what the service adds to it. */
export type ConfigContent = Omit<
  SiteConfigPublishedRecord,
  'v' | 'event_id' | 'site_id' | 'created_at' | 'number' | 'domain'
>;

/** What a draft would say if it were published: no ids, and of its texts only those in the site's languages. */
export function contentOfDraft(draft: SiteConfigDraft) {
  const { languages } = draft;
  const only = <T>(texts: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(texts).filter(([language]) => languages.includes(language)));
  return {
    ...draft,
    banner: only(draft.banner),
    withdrawal: only(draft.withdrawal),
    categories: draft.categories.map((category) => ({
      ...category,
      title: only(category.title),
      purpose: only(category.purpose),
    })),
    cookies: draft.cookies.map(({ id: _, ...cookie }) => ({ ...cookie, purpose: only(cookie.purpose) })),
  };
}

/** What a published record says. */
export function contentOfRecord(record: SiteConfigPublishedRecord): ConfigContent {
  const { v, event_id, site_id, created_at, number, domain, ...content } = record;
  return content;
}
