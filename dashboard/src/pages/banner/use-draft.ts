import { useQuery } from '@tanstack/react-query';
import { dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';

/** The draft of a site's configuration. */
export function useDraft(siteId: string) {
  const api = useApi();
  return useQuery({
    queryKey: ['draft', siteId],
    queryFn: () => dataOf(api.GET('/api/v1/sites/{site_id}/configuration', { params: { path: { site_id: siteId } } })),
  });
}
