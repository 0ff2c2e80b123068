import type { Texts } from '../i18n/texts.js';
import { printable } from './printable.js';

/** A moment that a time stamp proves. */
export interface ReportedTime {
  /** RFC 3339, UTC, milliseconds. */
  readonly time: string;
  /** Milliseconds to either side, as the authority states them. */
  readonly accuracy_ms: number;
  /** Size of the checkpoint that was stamped. */
  readonly checkpoint: number;
}

/**
 * `2026-11-22T01:53:07.000Z` as `22 November 2026, 01:53 UTC`; other texts as they are, made
 * printable.
 */
export function dayText(time: string, { words }: Pick<Texts, 'words'>): string {
  const [, year, month, day, clock] = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}:\d{2})/.exec(time) ?? [];
  const name = words.months[Number(month) - 1];
  return name === undefined ? printable(time) : `${Number(day)} ${name} ${year}, ${clock} UTC`;
}

const MINUTE_MS = 60_000;

/**
 * A moment by which something is proved to have existed. It is rounded up to the minute, with the accuracy that the
 * authority states: no earlier moment is proved.
 */
export function byMinute({ time, accuracy_ms: accuracy }: ReportedTime): string {
  const minutes = Math.ceil((Date.parse(time) + accuracy) / MINUTE_MS);
  return new Date(minutes * MINUTE_MS).toISOString();
}

/** The same in the words of `dayText`. */
export function byDayText(time: ReportedTime, texts: Pick<Texts, 'words'>): string {
  return dayText(byMinute(time), texts);
}

/** The time as of which a verdict holds, in words. */
export function asOfText(asOf: ReportedTime | null, { words }: Texts): string {
  return asOf === null ? words.asOfUnproved : words.asOf(momentText(asOf.time));
}

/** A proved time for readers, with date and time apart and the zone written out. */
export function timeText({ time, accuracy_ms: accuracy }: ReportedTime): string {
  return `${momentText(time)}${accuracy === 0 ? '' : ` (± ${accuracy} ms)`}`;
}

/**
 * `2026-03-01T10:09:00.000Z` as `2026-03-01 10:09:00.000 UTC`; other texts as they are, made
 * printable.
 */
export function momentText(time: string): string {
  const [, day, clock] = /^(\d{4}-\d{2}-\d{2})T([\d:.]+)Z$/.exec(time) ?? [];
  return day === undefined || clock === undefined ? printable(time) : `${day} ${clock} UTC`;
}

/** As `momentText`, without fractions of a second: for tables. */
export function secondText(time: string): string {
  return momentText(time.replace(/\.\d+Z$/, 'Z'));
}
