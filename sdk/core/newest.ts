import type { Kept } from './choice.js';

/** Beyond this, the time of a choice shows that a clock was wrong. */
const CLOCK_MS = 60_000;

/**
 * The choice that counts: the newest of those that the cookies hold and that the page remembers.
 *
 * Each choice is later than every one that its page knew. Of several cookies whose pages did not
 * know each other, the clock decides; if it has shown itself wrong, the refusal.
 * @param found in the cookies that the page sees
 * @param known by the page itself
 * @param now Unix milliseconds
 */
export function newestOf(found: readonly Kept[], known: Kept | null, now: number): Kept | null {
  const kept = found.reduce<Kept | null>((one, other) => (one !== null && one.at >= other.at ? one : other), null);
  if (kept === null || (known !== null && known.at > kept.at)) return known;
  const refusal = found.find(({ isVoid, isPermitted }) => isVoid || !isPermitted);
  return refusal !== undefined && kept.at > now + CLOCK_MS ? { ...refusal, at: kept.at } : kept;
}
