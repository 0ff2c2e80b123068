/**
 * The one message about something that a newer version of the format added. It is never called forged:
 * the check stays open.
 * @param what for example `version 2 of an entry`
 */
export function unknownVersion(what: string): string {
  return `this verifier does not know ${what}; use a newer one`;
}

/** @param type for example `ConsentRecorded.v2` */
export function unknownEventType(type: string): string {
  const [, name, version] = /^(.+)\.v([1-9]\d{0,5})$/.exec(type) ?? [];
  return unknownVersion(name === undefined ? `the event type ${type}` : `version ${version} of the event ${name}`);
}
