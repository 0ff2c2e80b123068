import type { Kept } from './choice.js';

/** A choice whose time is more than this many milliseconds in the future shows that a clock was wrong. */
const CLOCK_MS = 60_000;

/**
 * The choice that counts: the newest of those that the cookies hold and that the page remembers.
 *
 * Each choice is later than every one that its page knew. Among cookies whose pages did not know each
 * other, the clock decides, or the refusal if the clock is shown to be wrong. A page may not know its
 * own earlier choice, because the browser did not keep it.
 * @param found the choices in the cookies that the page can read
 * @param known the choice that the page itself remembers
 * @param now Unix milliseconds
 */
export function newestOf(found: readonly Kept[], known: Kept | null, now: number): Kept | null {
  const all = known === null ? found : [...found, known];
  const newest = all.reduce<Kept | null>((one, other) => (one !== null && one.at >= other.at ? one : other), null);
  if (newest === null || newest.at <= now + CLOCK_MS) return newest;
  const refusal = found.find(({ isVoid, isPermitted }) => isVoid || !isPermitted);
  return refusal === undefined ? newest : { ...refusal, at: newest.at };
}
