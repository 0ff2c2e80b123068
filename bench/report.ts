import type { RunFigures } from './benched-service.js';

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[middle - 1] ?? Number.NaN, sorted[middle] ?? Number.NaN];
  return sorted.length % 2 === 0 ? (low + high) / 2 : high;
}

/**
 * Prints the ratio of each pair of rounds. Noise of the machine affects both rounds of a pair
 * alike.
 */
export function printRatio(name: string, goal: number, ratios: readonly number[]): void {
  const sorted = [...ratios].sort((a, b) => a - b);
  const [least, most] = [sorted[0] ?? Number.NaN, sorted.at(-1) ?? Number.NaN];
  const value = median(ratios);
  console.log(
    `${name}: ratio ${value.toFixed(2)} (goal ${goal}, ${value >= goal ? 'met' : 'missed'}); ` +
      `least ${least.toFixed(2)}, most ${most.toFixed(2)} of ${ratios.length} pairs`,
  );
}

/** Describes the processor time per unit by process, and the load of the service's main thread. */
export function describeRun(figures: readonly RunFigures[], unitsEach: number): string {
  const each = (pick: (f: RunFigures) => number): number => median(figures.map((f) => (pick(f) * 1000) / unitsEach));
  const database = figures.every((f) => f.postgresCpuMs !== null)
    ? `PostgreSQL ${each((f) => f.postgresCpuMs ?? 0).toFixed(0)} µs`
    : 'PostgreSQL unknown (no /proc)';
  return (
    `${Math.round(median(figures.map((f) => (unitsEach / f.ms) * 1000)))}/s; processor time of each: service ` +
    `${each((f) => f.serviceCpuMs).toFixed(0)} µs, ${database}, load generator ${each((f) => f.generatorCpuMs).toFixed(0)} µs; ` +
    `service's main thread ${Math.round(median(figures.map((f) => f.eventLoopUtilization)) * 100)} % busy`
  );
}
