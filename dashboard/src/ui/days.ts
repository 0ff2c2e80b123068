/**
 * The first moment of a day in the time zone of the reader, in UTC.
 * @param day as a field for dates has it, for example 2026-01-31
 * @param later number of days after it
 */
export function startOfDay(day: string, later: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + later).toISOString();
}
