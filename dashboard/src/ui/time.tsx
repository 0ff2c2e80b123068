import { useFormats } from '../i18n/locale.js';

/** A time in the zone of the reader; in UTC on request. */
export function Time({ at }: { readonly at: string }) {
  const { dateTime } = useFormats();
  return (
    <time dateTime={at} title={`${at.slice(0, 19).replace('T', ' ')} UTC`}>
      {dateTime(at)}
    </time>
  );
}
