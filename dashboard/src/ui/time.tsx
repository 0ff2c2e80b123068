import { useFormats } from '../i18n/locale.js';

interface TimeProps {
  /** ISO 8601. */
  readonly at: string;
  /** Whether seconds are shown, where their order matters. */
  readonly isExact?: boolean;
  /** Whether the day alone is shown. */
  readonly isDay?: boolean;
}

/** How long ago a time was; the time in UTC on request. */
export function Ago({ at }: Pick<TimeProps, 'at'>) {
  const { ago } = useFormats();
  return (
    <time dateTime={at} title={inUtc(at)}>
      {ago(Math.max(0, (Date.now() - Date.parse(at)) / 1000))}
    </time>
  );
}

function inUtc(at: string): string {
  return `${at.slice(0, 19).replace('T', ' ')} UTC`;
}

/** A time in the zone of the reader; in UTC on request. */
export function Time({ at, isExact = false, isDay = false }: TimeProps) {
  const { date, dateTime, moment } = useFormats();
  return (
    <time dateTime={at} title={inUtc(at)}>
      {isDay ? date(at) : isExact ? moment(at) : dateTime(at)}
    </time>
  );
}
