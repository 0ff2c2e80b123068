import { useQuery } from '@tanstack/react-query';
import { type Api, dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';

/** The second factors of the user. */
export function useFactors() {
  const api = useApi();
  return useQuery({ queryKey: ['second-factor'], queryFn: () => factorsOf(api) });
}

async function factorsOf(api: Api) {
  const [app, passkeys] = await Promise.all([
    dataOf(api.GET('/api/v1/auth/second-factor')),
    dataOf(api.GET('/api/v1/auth/passkeys')),
  ]);
  return { ...app, passkeys, isInForce: app.enabled_at !== null || passkeys.length > 0 };
}
