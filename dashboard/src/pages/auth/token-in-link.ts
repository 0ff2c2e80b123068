import { useState } from 'react';

/**
 * The token after `#token=` of the link that the user opened. A fragment is in no request, so no log
 * has it; it leaves the address bar and the history at once.
 */
export function useTokenInLink(): string {
  const [token] = useState(() => new URLSearchParams(location.hash.slice(1)).get('token') ?? '');
  if (token !== '' && location.hash !== '') history.replaceState(history.state, '', location.pathname);
  return token;
}
