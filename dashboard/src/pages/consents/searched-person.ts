import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { PersonReference } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { usePages } from '../../ui/use-pages.js';
import { useKeepReason } from './reason.js';

/** A person who was searched for. */
export interface Searched {
  readonly person: PersonReference;
  /** Why, for the audit log. */
  readonly reason: string;
  /** Number of the search: the same person can be searched for again. */
  readonly search: number;
}

/** How long a search is kept in the memory of the page, in milliseconds, for the way back from a record. */
const KEPT_MS = 600_000;
/** Records of a page of the search. Each page is an entry of the audit log. */
const PAGE_SIZE = 100;

const keyOf = (siteId: string) => ['searched', siteId];

/** The person who was searched for last. They are not named in the address, because addresses are logged and stored. */
export function useSearched(siteId: string): Searched | null {
  const { data } = useQuery<Searched>({
    queryKey: keyOf(siteId),
    queryFn: skipToken,
    gcTime: KEPT_MS,
    meta: { isOnRequest: true },
  });
  return data ?? null;
}

/** Searches for a person in one site, and shows the records. */
export function useSearchPerson(siteId: string): (person: PersonReference, reason: string) => Promise<void> {
  const search = useSearchPersonIn();
  return (person, reason) => search(siteId, person, reason);
}

/** Searches for a person in a site that is known later. */
export function useSearchPersonIn(): (siteId: string, person: PersonReference, reason: string) => Promise<void> {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const keepReason = useKeepReason();
  return async (siteId, person, reason) => {
    keepReason(reason, person.value);
    queries.setQueryData<Searched>(keyOf(siteId), { person, reason, search: Date.now() });
    await navigate({ to: '/sites/$siteId/consents', params: { siteId }, search: { person: 'searched' } });
  };
}

/** Forgets every search, for example after an erasure, because the cached records are from before it. */
export function useForgetSearches(): () => void {
  const queries = useQueryClient();
  return () => {
    queries.removeQueries({ queryKey: ['searched'] });
    queries.removeQueries({ queryKey: ['pages', 'person'] });
  };
}

/** The records of a person, newest first. */
export function usePersonPages(siteId: string, { person, reason, search }: Searched) {
  const api = useApi();
  return usePages(
    ['person', siteId, person, search],
    (cursor) =>
      api.POST('/api/v1/sites/{site_id}/consents/search', {
        params: { path: { site_id: siteId } },
        body: { person, reason, limit: PAGE_SIZE, ...(cursor !== undefined && { cursor }) },
      }),
    () => false,
    { isOnRequest: true, keptMs: KEPT_MS },
  );
}
