import { useQuery } from '@tanstack/react-query';
import { dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';

/** Reads the options that the operator permits before a sign-in: new accounts, and links by mail. */
export function useAuthOptions() {
  const api = useApi();
  return useQuery({
    queryKey: ['auth-options'],
    queryFn: () => dataOf(api.GET('/api/v1/auth/options')),
    meta: { isPublic: true },
  });
}
