import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { allPages, answerOf, dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';
import { type PublishedConfiguration, readPublished } from './published-configuration.js';

/**
 * The published configuration that a record names, or null if the site has none with this hash.
 * @param hash SHA-256 of the configuration, as the record states it
 */
export function useShownConfiguration(siteId: string, hash: string): UseQueryResult<PublishedConfiguration | null> {
  const api = useApi();
  return useQuery({
    queryKey: ['shown-banner', siteId, hash],
    queryFn: async () => {
      const path = { site_id: siteId };
      const versions = await allPages((cursor) =>
        answerOf(
          api.GET('/api/v1/sites/{site_id}/configuration/versions', {
            params: { path, query: { limit: 100, cursor } },
          }),
        ),
      );
      const found = versions.find(({ sha256 }) => sha256 === hash);
      if (found === undefined) return null;
      const { record } = await dataOf(
        api.GET('/api/v1/sites/{site_id}/configuration/versions/{number}', {
          params: { path: { ...path, number: found.number } },
        }),
      );
      return readPublished(record);
    },
  });
}
