import { useState } from 'react';

/**
 * The token after `#token=` of the link that the user opened. A fragment is part of no request, so no log has the
 * token, which is also removed from the address bar and the history at once.
 */
export function useTokenInLink(): string {
  const [token] = useState(() => new URLSearchParams(location.hash.slice(1)).get('token') ?? '');
  if (token !== '' && location.hash !== '') history.replaceState(history.state, '', location.pathname);
  return token;
}
