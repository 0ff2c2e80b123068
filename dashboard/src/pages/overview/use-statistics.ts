import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';
import { daysOf, periodOf, type Shown } from './period.js';

/** The consents of the chosen period. @param isBefore whether to read the preceding period, for a comparison */
export function useStatistics(shown: Shown, isBefore = false) {
  const api = useApi();
  const days = daysOf(shown);
  return useQuery({
    queryKey: ['statistics', days, shown.site ?? null, isBefore],
    queryFn: () => {
      const period = periodOf(days, Date.now(), isBefore);
      const query = { ...period, ...(shown.site !== undefined && { site_id: shown.site }) };
      return dataOf(api.GET('/api/v1/statistics/consents', { params: { query } }));
    },
    // The page does not move while another period loads.
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  });
}
