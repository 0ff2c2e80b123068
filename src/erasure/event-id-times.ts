/**
 * The smallest event id (UUIDv7, RFC 9562 §5.7) of a time. Ids created before are smaller; ids
 * created from then on are not.
 * @throws RangeError for times before 1970 or beyond 48 bits of milliseconds
 */
export function firstEventIdAt(time: Date): string {
  const milliseconds = time.getTime();
  if (!(milliseconds >= 0 && milliseconds < 2 ** 48)) throw new RangeError('the time does not fit into an event id');
  const hex = milliseconds.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** The time in an event id, with millisecond precision. */
export function timeOfEventId(eventId: string): Date {
  return new Date(Number.parseInt(eventId.slice(0, 8) + eventId.slice(9, 13), 16));
}
