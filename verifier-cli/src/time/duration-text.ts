const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
] as const;

/** A duration for people, in its largest unit from minutes to days, otherwise in seconds. */
export function durationText(milliseconds: number): string {
  for (const [unit, name] of UNITS) {
    if (milliseconds >= unit) return `${Number((milliseconds / unit).toFixed(1))} ${name}`;
  }
  return `${Number((milliseconds / 1000).toFixed(1))} s`;
}
