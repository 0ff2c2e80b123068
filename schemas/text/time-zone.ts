import * as z from 'zod';

/** A name of the IANA time zone database by its form. Whether a runtime knows it is another question. */
export const TimeZoneName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,3}$/, 'must be a time zone like Europe/Istanbul')
  .max(64)
  .describe('Time zone (IANA) in which evidence shows times beside UTC, for example `Europe/Istanbul`; absent: none.');

/** A moment by the clocks of a zone. */
export interface ZonedTime {
  readonly year: string;
  /** From 1. */
  readonly month: number;
  readonly day: number;
  /** `HH:MM`. */
  readonly clock: string;
  /** `+03:00`. */
  readonly offset: string;
}

/**
 * Returns a moment by the clocks of a zone, as this runtime knows the zone. Runtimes differ in what they know, so that
 * nothing may depend on it.
 * @returns null if this runtime does not know the zone
 */
export function zonedTime(time: Date, timeZone: string): ZonedTime | null {
  try {
    const format = new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      timeZoneName: 'longOffset',
    });
    const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]));
    const of = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? '';
    return {
      year: of('year'),
      month: Number(of('month')),
      day: Number(of('day')),
      clock: `${of('hour')}:${of('minute')}`,
      offset: of('timeZoneName').replace('GMT', '') || '+00:00',
    };
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Whether this runtime knows a zone. */
export function knowsTimeZone(name: string): boolean {
  return zonedTime(new Date(0), name) !== null;
}
