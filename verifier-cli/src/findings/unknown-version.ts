import { type Finding, finding } from './finding.js';
/**
 * Returns the message about something that a newer version of the format added. This is never called a forgery: the
 * check remains undecided.
 * @param what the thing, for example `version 2 of an entry`
 */
export function unknownVersion(what: Finding): Finding {
  return finding('unknown-version', { what });
}

/** @param type a type, for example `ConsentRecorded.v2` */
export function unknownEventType(type: string): Finding {
  const [, name, version] = /^(.+)\.v([1-9]\d{0,5})$/.exec(type) ?? [];
  return unknownVersion(
    name === undefined || version === undefined
      ? finding('event-type', { type })
      : finding('event-version', { version, event: name }),
  );
}
