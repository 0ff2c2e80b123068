/** The names of the units of a duration. */
export interface Units {
  readonly days: string;
  readonly hours: string;
  readonly minutes: string;
  readonly seconds: string;
}

const LENGTHS = [
  [86_400_000, 'days'],
  [3_600_000, 'hours'],
  [60_000, 'minutes'],
] as const;

/**
 * Formats a duration as readable text: in the largest unit from minutes to days that divides it, otherwise in seconds.
 */
export function durationText(milliseconds: number, units: Units): string {
  for (const [length, unit] of LENGTHS) {
    if (milliseconds >= length) return `${Number((milliseconds / length).toFixed(1))} ${units[unit]}`;
  }
  return `${Number((milliseconds / 1000).toFixed(1))} ${units.seconds}`;
}
