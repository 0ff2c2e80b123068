import type { SiteConfigDraft } from '../../../schemas/api/panel/configuration.js';
import type { SiteConfigPublishedRecord } from '../../../schemas/events/site-config.js';

/** The content of a configuration: the record without the members that the service adds. */
export type ConfigContent = Omit<
  SiteConfigPublishedRecord,
  'v' | 'event_id' | 'site_id' | 'created_at' | 'number' | 'domain'
>;

/**
 * The content that publishing the draft would give: without cookie ids, and with texts in the
 * site's languages only.
 */
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

/** The content of a published record. */
export function contentOfRecord(record: SiteConfigPublishedRecord): ConfigContent {
  const { v, event_id, site_id, created_at, number, domain, ...content } = record;
  return content;
}
