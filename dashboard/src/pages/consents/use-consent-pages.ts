import type { ConsentSummary } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { usePages } from '../../ui/use-pages.js';
import { type Filters, queryOf } from './filters.js';

const PAGE_SIZE = 25;

/**
 * The records of a site, newest first.
 * @param refetch after how many milliseconds the records are read again, depending on their content
 */
export function useConsentPages(
  siteId: string,
  filters: Filters,
  refetch?: (items: readonly ConsentSummary[]) => number | false,
) {
  const api = useApi();
  return usePages(
    ['consents', siteId, queryOf(filters)],
    (cursor) =>
      api.GET('/api/v1/sites/{site_id}/consents', {
        params: { path: { site_id: siteId }, query: { ...queryOf(filters), limit: PAGE_SIZE, cursor } },
      }),
    refetch,
  );
}
