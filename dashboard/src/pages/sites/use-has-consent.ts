import { useQuery } from '@tanstack/react-query';
import { answerOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';

/** Interval between checks for the first consent, in milliseconds. */
const LOOK_MS = 3_000;

/** Whether a site has a consent; looks until it has. Undefined while it is not known. */
export function useHasConsent(siteId: string): boolean | undefined {
  const api = useApi();
  return useQuery({
    queryKey: ['has-consent', siteId],
    queryFn: async () => {
      const path = { site_id: siteId };
      const { data } = await answerOf(
        api.GET('/api/v1/sites/{site_id}/consents', { params: { path, query: { limit: 1 } } }),
      );
      return data.length > 0;
    },
    refetchInterval: ({ state }) => (state.data === true ? false : LOOK_MS),
  }).data;
}
