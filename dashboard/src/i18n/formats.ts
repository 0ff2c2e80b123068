import type { Language } from './languages.js';

/** Dates, numbers and sizes as a reader of one language expects them. */
export interface Formats {
  /** The locale (BCP 47), with the region of the browser if it has the same language. */
  readonly locale: string;
  number(value: number): string;
  /** @param share 0 to 1 */
  percent(share: number): string;
  dateTime(iso: string): string;
  /** Day and time with seconds. */
  moment(iso: string): string;
  date(iso: string): string;
  /** @param day a day without a time, for example 2026-01-31 */
  day(day: string): string;
  month(iso: string): string;
  /** How long ago a time was, in the largest unit that fits: "5 minutes ago". @param seconds age in seconds */
  ago(seconds: number): string;
  /** A length of time in one unit: "30 days". */
  quantity(count: number, unit: 'days' | 'hours' | 'minutes' | 'seconds'): string;
  bytes(size: number): string;
  list(items: readonly string[]): string;
  languageName(tag: string): string;
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

export function formatsOf(language: Language): Formats {
  const locale = navigator.languages.find((tag) => tag.toLowerCase().startsWith(`${language}-`)) ?? language;
  const number = new Intl.NumberFormat(locale);
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });
  const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
  const moment = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });
  const month = new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'long', timeZone: 'UTC' });
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'always' });
  const list = new Intl.ListFormat(locale);
  const names = new Intl.DisplayNames(locale, { type: 'language' });
  return {
    locale,
    number: (value) => number.format(value),
    percent: (share) => percent.format(share),
    dateTime: (iso) => dateTime.format(new Date(iso)),
    moment: (iso) => moment.format(new Date(iso)),
    date: (iso) => date.format(new Date(iso)),
    day: (iso) => day.format(new Date(iso)),
    month: (iso) => month.format(new Date(iso)),
    ago: (seconds) => {
      const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? (['second', 1] as const);
      return relative.format(-Math.floor(seconds / size), unit);
    },
    quantity: (count, unit) =>
      new Intl.NumberFormat(locale, { style: 'unit', unit: unit.slice(0, -1), unitDisplay: 'long' }).format(count),
    bytes: (size) =>
      size < 1024 * 1024
        ? `${number.format(Math.ceil(size / 1024))} KiB`
        : `${number.format(Math.round((size / 1024 / 1024) * 10) / 10)} MiB`,
    list: (items) => list.format(items),
    languageName: (tag) => names.of(tag) ?? tag,
  };
}
