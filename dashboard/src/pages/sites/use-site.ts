import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';

/** The id of the site in the address. */
export function useSiteId(): string {
  const { siteId } = useParams({ strict: false });
  if (siteId === undefined) throw new Error('this page belongs to a site');
  return siteId;
}

export function useSite(siteId: string) {
  const api = useApi();
  return useQuery({
    queryKey: ['site', siteId],
    queryFn: () => dataOf(api.GET('/api/v1/sites/{site_id}', { params: { path: { site_id: siteId } } })),
  });
}
