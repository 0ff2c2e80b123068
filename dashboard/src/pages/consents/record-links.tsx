import { Link, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { ConsentSummary } from '../../api/types.js';
import { useMessages } from '../../i18n/locale.js';
import { type Filters, filtersOf } from './filters.js';
import { type Searched, usePersonPages, useSearched } from './searched-person.js';
import { oldestFirst } from './state-at.js';
import { useConsentPages } from './use-consent-pages.js';

interface RecordLinksProps {
  readonly siteId: string;
  readonly consentId: string;
}

/** The way back to the list from which a record was opened, and to the records beside it there. */
export function RecordLinks({ siteId, consentId }: RecordLinksProps) {
  const filters = filtersOf(useSearch({ strict: false }));
  const searched = useSearched(siteId);
  if (filters.person !== undefined && searched !== null)
    return <InPerson siteId={siteId} consentId={consentId} searched={searched} />;
  return <InList siteId={siteId} consentId={consentId} filters={{ ...filters, person: undefined }} />;
}

function InPerson({ siteId, consentId, searched }: RecordLinksProps & { readonly searched: Searched }) {
  const { data = [] } = usePersonPages(siteId, searched);
  return <Links siteId={siteId} consentId={consentId} filters={{ person: 'searched' }} items={oldestFirst(data)} />;
}

function InList({ siteId, consentId, filters }: RecordLinksProps & { readonly filters: Filters }) {
  const { data = [], hasNextPage, isFetchingNextPage, fetchNextPage } = useConsentPages(siteId, filters);
  const isLast = data.length > 0 && data.at(-1)?.id === consentId;
  useEffect(() => {
    if (isLast && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [isLast, hasNextPage, isFetchingNextPage, fetchNextPage]);
  return <Links siteId={siteId} consentId={consentId} filters={filters} items={data} />;
}

interface LinksProps extends RecordLinksProps {
  readonly filters: Filters;
  readonly items: readonly ConsentSummary[];
}

function Links({ siteId, consentId, filters, items }: LinksProps) {
  const { consents } = useMessages();
  const place = items.findIndex(({ id }) => id === consentId);
  const previous = place < 1 ? undefined : items[place - 1];
  const next = place === -1 ? undefined : items[place + 1];
  return (
    <nav className="record-links" aria-label={consents.list}>
      <Link to="/sites/$siteId/consents" params={{ siteId }} search={filters} hash={rowOf(consentId)}>
        {consents.backToList}
      </Link>
      {previous === undefined ? null : (
        <Link to="/sites/$siteId/consents/$consentId" params={{ siteId, consentId: previous.id }} search={filters}>
          {consents.previousRecord}
        </Link>
      )}
      {next === undefined ? null : (
        <Link to="/sites/$siteId/consents/$consentId" params={{ siteId, consentId: next.id }} search={filters}>
          {consents.nextRecord}
        </Link>
      )}
    </nav>
  );
}

/** Id of the element that the list has for a record. */
export function rowOf(consentId: string): string {
  return `record-${consentId}`;
}
