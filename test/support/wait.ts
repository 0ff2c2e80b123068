import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How long a test waits for something that must come, in milliseconds: of use only where it does not
 * come. A bound on the time that something takes belongs to a benchmark, because a test does not know
 * how busy its machine is.
 */
export const PATIENCE_MS = 240_000;

/** Milliseconds between two looks. */
const EVERY_MS = 20;

/**
 * Waits until a condition holds.
 * @param condition a false or empty value, as long as it does not hold
 * @param everyMs milliseconds between two looks
 * @returns what the condition returned
 * @throws Error after `PATIENCE_MS`
 */
export async function until<T>(condition: () => T | Promise<T>, everyMs = EVERY_MS): Promise<NonNullable<T>> {
  const gaveUp = new Error(`This did not come to hold within ${PATIENCE_MS / 1000} s: ${condition}`);
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > end) throw gaveUp;
    await sleep(everyMs);
  }
}

/**
 * Repeats work until it succeeds.
 * @param work throws, as long as it does not succeed
 * @param everyMs milliseconds between two attempts
 * @returns what the work returned
 * @throws what the work threw last, after `PATIENCE_MS`
 */
export async function eventually<T>(work: () => T | Promise<T>, everyMs = EVERY_MS): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > end) throw error;
      await sleep(everyMs);
    }
  }
}
