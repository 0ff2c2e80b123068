/** One tab of the browser renews at a time, because a refresh token is valid for one use. */
export function oneTabAtATime<T>(work: () => Promise<T>): Promise<T> {
  return navigator.locks === undefined ? work() : navigator.locks.request('consent-ledger-renewal', work);
}
