import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 100;

/** How long the background write may take, in milliseconds. */
export const BACKGROUND_MS = 10_000;

/**
 * Asks until the answer is the one hoped for.
 * @returns the last response, whether it is the expected one or not
 */
export async function eventually<T>(
  ask: () => Promise<T>,
  isHopedFor: (answer: T) => boolean,
  withinMs = BACKGROUND_MS,
): Promise<T> {
  const end = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (isHopedFor(answer) || Date.now() > end) return answer;
    await sleep(EVERY_MS);
  }
}

/** Waits until a second of the clock has just begun. */
export async function startOfSecond(): Promise<void> {
  await sleep(1005 - (Date.now() % 1000));
}

export { sleep };
