import type { components } from '../../api/panel-api.js';
import type { Messages } from '../../i18n/messages.js';
import { startOfDay } from '../../ui/days.js';

/** Filters of the audit log. They are no part of the address, because words and users can be personal. */
export interface AuditFilters {
  /** First day, in the zone of the reader, or empty. */
  readonly from: string;
  /** Last day, or empty. */
  readonly to: string;
  readonly action: string;
  /** Id of a user, `operator`, `service`, or empty. */
  readonly actor: string;
  readonly site: string;
  readonly words: string;
}

export const NO_FILTERS: AuditFilters = { from: '', to: '', action: '', actor: '', site: '', words: '' };

type Query = components['schemas']['SearchAuditLogRequest'];

/** Words that one search compares; the rest of a longer text is ignored. */
const MOST_WORDS = 8;

/** The filters as the API takes them. @param locale of the reader */
export function queryOf(filters: AuditFilters, audit: Messages['audit'], locale: string): Query {
  const { from, to, action, actor, site, words } = filters;
  return {
    ...(from !== '' && { from: startOfDay(from, 0) }),
    ...(to !== '' && { to: startOfDay(to, 1) }),
    ...(action !== '' && { action }),
    ...(actor !== '' && { actor }),
    ...(site !== '' && { site_id: site }),
    words: words
      .split(/\s+/)
      .filter((word) => word !== '')
      .slice(0, MOST_WORDS)
      .map((word) => ({
        text: word.slice(0, 100),
        actions: keysOf(audit.actions, word, locale),
        kinds: keysOf(audit.kinds, word, locale),
      })),
  };
}

/** The names of the API whose translation has a word: the service does not know the words of the page. */
function keysOf(names: Readonly<Record<string, string>>, word: string, locale: string): string[] {
  const wanted = word.toLocaleLowerCase(locale);
  return Object.entries(names)
    .filter(([, name]) => name.toLocaleLowerCase(locale).includes(wanted))
    .map(([key]) => key);
}
