import { useFormats } from '../i18n/locale.js';

interface TimeProps {
  /** ISO 8601. */
  readonly at: string;
  /** Whether seconds are shown, where their order matters. */
  readonly isExact?: boolean;
  /** Whether the day alone is shown. */
  readonly isDay?: boolean;
}

/** Shows how long ago a time was, and on request the time in UTC. */
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

/** Shows a time in the zone of the reader, and on request in UTC. */
export function Time({ at, isExact = false, isDay = false }: TimeProps) {
  const { date, dateTime, moment } = useFormats();
  return (
    <time dateTime={at} title={inUtc(at)}>
      {isDay ? date(at) : isExact ? moment(at) : dateTime(at)}
    </time>
  );
}
