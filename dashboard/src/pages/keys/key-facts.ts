import type { ApiKey } from '../../api/types.js';

const DAY_MS = 86_400_000;
/** Days without a use after which the list says so. */
const IDLE_DAYS = 90;

/**
 * What the list says of a key: `replaced` keys still work until they expire, `unused` ones never were in a request, and
 * `idle` ones not lately.
 */
export type KeyState = 'revoked' | 'expired' | 'replaced' | 'unused' | 'idle' | 'active';

/** @param now milliseconds since 1970 */
export function keyStateOf(key: Pick<ApiKey, 'revoked_at' | 'expires_at' | 'last_used_at'>, now: number): KeyState {
  if (key.revoked_at !== null) return 'revoked';
  if (key.expires_at !== null) return Date.parse(key.expires_at) <= now ? 'expired' : 'replaced';
  if (key.last_used_at === null) return 'unused';
  return Date.parse(key.last_used_at) < now - IDLE_DAYS * DAY_MS ? 'idle' : 'active';
}

/**
 * Returns the text of the key that belongs in the pages, or null if none can be shown: the one that was just made, or
 * else the newest live one that records and was not replaced.
 * @param keys keys of the site, oldest first
 * @param latestId the key that was just made
 */
export function keyForPages(keys: readonly ApiKey[], latestId: string | null): string | null {
  const shown = keys.filter(({ publishable_key: text }) => text !== null);
  const latest = shown.find(({ id }) => id === latestId);
  const fit = shown.filter((key) => key.mode === 'live' && key.scope === 'write' && key.replaced_by === null);
  return (latest ?? fit.at(-1))?.publishable_key ?? null;
}
