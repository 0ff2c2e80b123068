import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Api } from '../../api/client.js';
import { dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';

const draftOf = (api: Api, siteId: string) =>
  queryOptions({
    queryKey: ['draft', siteId],
    queryFn: () => dataOf(api.GET('/api/v1/sites/{site_id}/configuration', { params: { path: { site_id: siteId } } })),
  });

/** The draft of a site's configuration. */
export function useDraft(siteId: string) {
  return useQuery(draftOf(useApi(), siteId));
}

/**
 * A change of the draft. It waits until earlier changes are done and the draft was read again: the service refuses
 * changes that are not based on the newest revision, and a user can save two forms before the first response arrives.
 * @param change a function that receives the revision of the draft that it changes
 */
export function useDraftChange<Input, Output>(
  siteId: string,
  change: (input: Input, revision: number) => Promise<Output>,
): (input: Input) => Promise<Output> {
  const queries = useQueryClient();
  const { queryKey } = draftOf(useApi(), siteId);
  return useMutation({
    mutationFn: (input: Input) => change(input, queries.getQueryData(queryKey)?.revision ?? 0),
    scope: { id: `draft ${siteId}` },
  }).mutateAsync;
}
