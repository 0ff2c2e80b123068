import { useFormats } from '../i18n/locale.js';

interface TimeProps {
  /** ISO 8601. */
  readonly at: string;
  /** Whether seconds are shown, where their order matters. */
  readonly isExact?: boolean;
}

/** A time in the zone of the reader; in UTC on request. */
export function Time({ at, isExact = false }: TimeProps) {
  const { dateTime, moment } = useFormats();
  return (
    <time dateTime={at} title={`${at.slice(0, 19).replace('T', ' ')} UTC`}>
      {isExact ? moment(at) : dateTime(at)}
    </time>
  );
}
