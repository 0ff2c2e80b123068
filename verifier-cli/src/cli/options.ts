import { UsageError } from './usage-error.js';

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration such as `90s`, `30m`, `24h` or `7d`, in milliseconds. @throws UsageError */
export function parseDuration(text: string): number {
  const [, digits, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const factor = UNITS[unit ?? ''];
  if (digits === undefined || factor === undefined) {
    throw new UsageError(`“${text}” is not a duration: write a whole number and s, m, h or d, as in 24h`);
  }
  return Number(digits) * factor;
}

/** A time in RFC 3339, such as `2026-01-31` or `2026-01-31T12:00:00Z`. @throws UsageError */
export function parseTime(text: string): Date {
  const isTime = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/.test(text);
  const time = new Date(text);
  if (!isTime || Number.isNaN(time.getTime()))
    throw new UsageError(`“${text}” is not a time: write an existing date and time, as in 2026-01-31T12:00:00Z`);
  return time;
}

/** For an option that may be given several times. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
