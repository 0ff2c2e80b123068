import type { Latencies } from './messages.js';

/** Returns the quantiles of some milliseconds; 0 of none. */
export function latenciesOf(values: readonly number[]): Latencies {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), most: at(1) };
}
