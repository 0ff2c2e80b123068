import { CONSENT_RECORDED, type ConsentRecordV2 } from '../events/consent-recorded.js';
import { type Cursor, within } from '../json/cursor.js';
import { consentRecordAt } from './consent-record-members.js';
import { nullOr, takeHash } from './consent-values.js';
import { ENTRY_VERSION, type Entry } from './entry.js';

/*
 * A package holds consents by the million, and their schemas (`Entry`, `ConsentRecord`) cost
 * several times what hashing and parsing the same bytes does. So this module reads a consent in its
 * canonical text in one pass over its bytes: in a line of a package, or in an event's body, within
 * a JSON string.
 *
 * The schemas stay the definition of the format. This module reads only texts that they accept,
 * with the same value, and that are canonical and strict JSON. All other texts (other members,
 * white space, other escapes, characters beyond ASCII) are left to them, valid or not. A test
 * compares both.
 */

/** The entry of a consent. */
export interface ConsentEntry extends Entry {
  readonly type: typeof CONSENT_RECORDED;
  readonly record: ConsentRecordV2;
  readonly proof_hash: string;
  readonly person_tag: string;
}

const ENTRY = {
  eventId: within('{"event_id":"'),
  personTag: within('","person_tag":"'),
  previous: within('","previous":'),
  proofHash: within(',"proof_hash":"'),
  record: within('","record":'),
  revision: within(',"revision":'),
  stream: within(',"stream":"'),
  consents: within('consents-'),
  end: within(`","type":"${CONSENT_RECORDED}","v":${ENTRY_VERSION}}`),
};

/**
 * Reads the entry of a consent, in its canonical text, within a JSON string.
 * @returns null if the text is not recognised, although it may be valid
 */
export function consentEntryAt(cursor: Cursor): ConsentEntry | null {
  cursor.expect(ENTRY.eventId);
  const eventId = cursor.uuid();
  cursor.expect(ENTRY.personTag);
  const personTag = takeHash(cursor);
  cursor.expect(ENTRY.previous);
  const previous = nullOr(cursor, takeHash);
  cursor.expect(ENTRY.proofHash);
  const proofHash = takeHash(cursor);
  cursor.expect(ENTRY.record);
  const record = cursor.isBroken ? null : consentRecordAt(cursor);
  if (record === null) return null;
  cursor.expect(ENTRY.revision);
  const revision = cursor.count();
  cursor.expect(ENTRY.stream);
  const stream = consentsStreamAt(cursor);
  cursor.expect(ENTRY.end);
  if (cursor.isBroken) return null;
  // In the order of the text, as a parser would produce them.
  return {
    event_id: eventId,
    person_tag: personTag,
    previous,
    proof_hash: proofHash,
    record,
    revision,
    stream,
    type: CONSENT_RECORDED,
    v: ENTRY_VERSION,
  };
}

/** The name of a stream of consents. */
export function consentsStreamAt(cursor: Cursor): string {
  const start = cursor.at;
  cursor.expect(ENTRY.consents);
  cursor.uuid();
  return cursor.text.slice(start, cursor.at);
}
