import { useQuery } from '@tanstack/react-query';
import { allPages, answerOf } from '../api/client.js';
import { useApi } from '../app-context.js';

/** The sites of the tenant, oldest first. */
export function useSites() {
  const api = useApi();
  return useQuery({
    queryKey: ['sites'],
    queryFn: () =>
      allPages((cursor) => answerOf(api.GET('/api/v1/sites', { params: { query: { limit: 100, cursor } } }))),
  });
}
