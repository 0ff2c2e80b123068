import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 100;

/**
 * How long a rule waits for something that must come, in milliseconds: of use only where it does not
 * come, because a rule does not know how busy the machine is.
 */
const PATIENCE_MS = 240_000;

/**
 * Asks until the answer is the one hoped for.
 * @returns the last response, whether it is the expected one or not
 */
export async function eventually<T>(ask: () => Promise<T>, isHopedFor: (answer: T) => boolean): Promise<T> {
  const end = Date.now() + PATIENCE_MS;
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
