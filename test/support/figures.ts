import { loadavg } from 'node:os';

/**
 * Prints, with `TEST_LOG=info`, what a test measured and docs/reliability.md states, with the load average
 * of the last minute.
 */
export function figures(what: string, values: Readonly<Record<string, number | string | boolean>>): void {
  if (process.env.TEST_LOG === undefined) return;
  console.log(JSON.stringify({ what, load: Math.round(loadavg()[0] ?? 0), ...values }));
}

/** Seconds between two values of `performance.now()`, with one decimal place. */
export function secondsSince(from: number, to = performance.now()): number {
  return Math.round((to - from) / 100) / 10;
}
