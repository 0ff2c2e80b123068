import { type Finding, finding } from './finding.js';
/**
 * The one message about something that a newer version of the format added. It is never called forged:
 * the check stays open.
 * @param what for example `version 2 of an entry`
 */
export function unknownVersion(what: Finding): Finding {
  return finding('unknown-version', { what });
}

/** @param type for example `ConsentRecorded.v2` */
export function unknownEventType(type: string): Finding {
  const [, name, version] = /^(.+)\.v([1-9]\d{0,5})$/.exec(type) ?? [];
  return unknownVersion(
    name === undefined || version === undefined
      ? finding('event-type', { type })
      : finding('event-version', { version, event: name }),
  );
}
