import { textOfBytes } from '../crypto/encoding.js';
import type { SealedConsent } from '../events/consent-imported.js';
import type { ConsentRecordedBody, ConsentRecordV2 } from '../events/consent-recorded.js';
import { asciiBytes, Cursor, HEX, PLAIN } from '../json/cursor.js';
import { consentRecordAt } from './consent-record-members.js';

/** The body of a consent's event, with its record read. */
export interface ConsentContent {
  readonly body: ConsentRecordedBody;
  readonly record: SealedConsent;
}

/** The same, read from a text in the form that admission writes. */
export interface ConsentBody extends ConsentContent {
  readonly record: ConsentRecordV2;
  /** `body.record` as JSON escapes it in a string, without the quotation marks. */
  readonly escapedRecord: string;
}

const RECORD = asciiBytes('{"record":"');
const PROOF_HASH = asciiBytes('","proof_hash":"');
const DISCLOSURES = asciiBytes('","disclosures":');
const ATTACHMENTS = asciiBytes(',"attachments":[');
const NULL = asciiBytes('null');
const QUOTE = asciiBytes('"');
const COMMA = asciiBytes(',');
const END = asciiBytes(']}');
const MOST_ATTACHMENTS = 8;

/**
 * Reads the body of a consent's event as admission writes it: an export reads a million.
 * `ConsentRecordedBody` stays the definition (see `consentEntryAt`).
 * @returns null if the body is not recognised, although it may be valid
 */
export function readConsentBody(data: Uint8Array): ConsentBody | null {
  const cursor = new Cursor(data, textOfBytes(data), 0, data.length);
  cursor.expect(RECORD);
  const start = cursor.at;
  const record = consentRecordAt(cursor);
  if (record === null) return null;
  const end = cursor.at;
  cursor.expect(PROOF_HASH);
  const proofHash = cursor.take(HEX, 64);
  cursor.expect(DISCLOSURES);
  const disclosures = cursor.skip(NULL) ? null : quoted(cursor);
  cursor.expect(ATTACHMENTS);
  const attachments = attachmentsAt(cursor);
  if (!cursor.isDone) return null;
  const escapedRecord = cursor.text.slice(start, end);
  // With the quotation marks around it, the text is a JSON string.
  const text: unknown = JSON.parse(cursor.text.slice(start - 1, end + 1));
  if (typeof text !== 'string') return null;
  return { body: { record: text, proof_hash: proofHash, disclosures, attachments }, record, escapedRecord };
}

function quoted(cursor: Cursor): string {
  cursor.expect(QUOTE);
  const text = cursor.span(PLAIN, 0, cursor.end);
  cursor.expect(QUOTE);
  return text;
}

function attachmentsAt(cursor: Cursor): string[] {
  const attachments: string[] = [];
  if (cursor.skip(END)) return attachments;
  do {
    cursor.expect(QUOTE);
    attachments.push(cursor.uuid());
    cursor.expect(QUOTE);
  } while (!cursor.isBroken && attachments.length < MOST_ATTACHMENTS && cursor.skip(COMMA));
  cursor.expect(END);
  return attachments;
}
