import { answerOf } from '../../api/client.js';
import type { AuditEntry, NamedThing } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { usePages } from '../../ui/use-pages.js';
import { type AuditFilters, queryOf } from './filters.js';

/** An entry with the things that it names and that still exist, by their ids. */
export interface NamedEntry {
  readonly entry: AuditEntry;
  readonly named: ReadonlyMap<string, NamedThing>;
}

const PAGE_SIZE = 50;
/** Entries of a page of a file. */
const FILE_PAGE = 500;
/** Entries of a file at most: some minutes of reading for a person, and some megabytes. */
export const MOST_ENTRIES = 10_000;

/** The entries that match, newest first. */
export function useEntries(filters: AuditFilters) {
  const read = useReader(filters);
  return usePages(['audit-log', filters], async (cursor) => {
    const { data, ...rest } = await read({ limit: PAGE_SIZE, cursor });
    return data === undefined ? rest : { ...rest, data: { ...data, data: withNames(data) } };
  });
}

/** Reads the entries that match, at most `MOST_ENTRIES`, and says whether there are more. */
export function useAllEntries(filters: AuditFilters) {
  const read = useReader(filters);
  return async (): Promise<{ readonly entries: readonly NamedEntry[]; readonly isMore: boolean }> => {
    const entries: NamedEntry[] = [];
    let cursor: string | undefined;
    do {
      const page = await answerOf(read({ limit: Math.min(FILE_PAGE, MOST_ENTRIES - entries.length), cursor }));
      entries.push(...withNames(page));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined && entries.length < MOST_ENTRIES);
    return { entries, isMore: cursor !== undefined };
  };
}

function useReader(filters: AuditFilters) {
  const api = useApi();
  const { audit } = useMessages();
  const { locale } = useFormats();
  return ({ limit, cursor }: { readonly limit: number; readonly cursor: string | undefined }) =>
    api.POST('/api/v1/audit-log/search', {
      body: { ...queryOf(filters, audit, locale), limit, ...(cursor !== undefined && { cursor }) },
    });
}

function withNames(page: { readonly data: readonly AuditEntry[]; readonly named: readonly NamedThing[] }) {
  const named = new Map(page.named.map((thing) => [thing.id, thing]));
  return page.data.map((entry): NamedEntry => ({ entry, named }));
}
