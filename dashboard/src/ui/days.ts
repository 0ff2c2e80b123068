/**
 * The first moment of a day, in UTC.
 * @param day a day in the format of a date field, for example 2026-01-31
 * @param later number of days after it
 * @param zone time zone of the day; if omitted, that of the reader
 */
export function startOfDay(day: string, later: number, zone?: 'UTC'): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const parts = [year, month - 1, date + later] as const;
  return new Date(zone === 'UTC' ? Date.UTC(...parts) : new Date(...parts)).toISOString();
}

/** Returns the day that was so many days before today, in the zone of the reader and the format of a date field. */
export function dayBefore(days: number): string {
  const now = new Date();
  const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() - days);
  const two = (part: number) => String(part).padStart(2, '0');
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}
