import { useQuery } from '@tanstack/react-query';
import { dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';
import { readPublished } from '../consents/published-configuration.js';
import type { ComparedConfiguration } from './configuration-difference.js';

/** A published version of a site's configuration, or null if it has a form that this page does not know. */
export function usePublished(siteId: string, number: number | undefined) {
  const api = useApi();
  return useQuery({
    queryKey: ['published configuration', siteId, number],
    enabled: number !== undefined,
    queryFn: async (): Promise<ComparedConfiguration | null> => {
      const path = { site_id: siteId, number: number ?? 0 };
      const { record } = await dataOf(
        api.GET('/api/v1/sites/{site_id}/configuration/versions/{number}', { params: { path } }),
      );
      return readPublished(record);
    },
    staleTime: Number.POSITIVE_INFINITY,
    meta: { isFixed: true },
  });
}
