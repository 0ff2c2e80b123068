/*
 * An entry: one event at one revision of one stream, as canonical JSON (RFC 8785). It is the content of a leaf of a
 * batch (docs/evidence-format.md §4).
 *
 * - `previous` is the leaf hash of revision − 1 and null only at revision 0, so that the entries of a stream are a hash
 *   chain without gaps.
 * - `record` is embedded as the text that was recorded, never serialised again.
 * - `proof_hash` and `person_tag` are null except for the types that have them.
 * - The leaf hash is SHA-256(0x00 ‖ UTF-8 of the text) (RFC 9162 §2.1.1).
 *
 * For example, the first policy of a ledger is this entry (without the line breaks):
 *
 *   {"event_id":"0190b3a4-5c00-7000-8000-000000000003","person_tag":null,"previous":null,"proof_hash":null,
 *    "record":{"created_at":"2026-01-01T00:00:00.000Z","event_id":"0190b3a4-5c00-7000-8000-000000000003",
 *     "number":1,"seal_within_seconds":600,"stamp_within_seconds":3600,"stamps":1,"tree_hash":"sha256","v":1,
 *     "witnesses":[],"witnesses_required":0},
 *    "revision":0,"stream":"policy","type":"LedgerPolicySet.v1","v":1}
 *
 * Its leaf hash, which revision 1 of `policy` has as `previous`, is
 * 1516b3cdc439914ed6d9e1095ae4d4f4ec7e4fac492360c206a003a2d681ecd9.
 */
import * as z from 'zod';
import { sha256Hex } from '../crypto/digest.js';
import { utf8 } from '../crypto/encoding.js';
import { CONSENT_RECORDED } from '../events/consent-recorded.js';
import { canonicalJson, canonicalString } from '../json/canonical-json.js';
import type { JsonObject } from '../json/json-value.js';
import { leafHash } from '../merkle/hashing.js';
import { Count, Sha256Hex, StreamName, Uuid } from './primitives.js';

/** Format version of an entry. */
export const ENTRY_VERSION = 1;

/**
 * An object of parsed JSON. Its members are JSON already: looking through them again would cost
 * more than all other checks of an entry.
 */
const JsonObjectShape = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
);

/**
 * The content of a leaf of a batch: one event at one position of one stream, chained to the
 * previous one.
 */
export const Entry = z.strictObject({
  v: z.literal(ENTRY_VERSION),
  stream: StreamName,
  revision: Count,
  /** Leaf hash of revision − 1 in hex, or null at revision 0. */
  previous: Sha256Hex.nullable(),
  event_id: Uuid,
  type: z.string().min(1).max(100),
  /** The event's public part; its schema depends on `type`. */
  record: JsonObjectShape,
  /**
   * Hex HMAC-SHA-256 over JCS(record) with the tenant's proof key, or null for events that are not consents.
   */
  proof_hash: Sha256Hex.nullable(),
  /**
   * In hex. For a consent, the tag of its person's record (`personTag`), or 32 random bytes if it has no person. For an
   * erasure, the tag of the record's erasure (`erasureTag`), or random bytes if the record has an earlier erasure. Null
   * for other events.
   */
  person_tag: Sha256Hex.nullable(),
});
export type Entry = z.infer<typeof Entry>;

/** The parts of an entry, its record as the canonical text that the event's body carries. */
export interface EntryParts {
  readonly stream: string;
  readonly revision: number;
  readonly previous: string | null;
  readonly eventId: string;
  readonly type: string;
  readonly recordText: string;
  readonly proofHash: string | null;
  /** In hex. */
  readonly personTag: string | null;
}

/**
 * The canonical text (JCS) of an entry. The record's text is embedded unchanged: nothing that was
 * parsed is serialised again to be hashed. Members are in the order of RFC 8785.
 */
export function entryText(parts: EntryParts): string {
  return (
    `{"event_id":${canonicalString(parts.eventId)},"person_tag":${canonicalJson(parts.personTag)},"previous":${canonicalJson(parts.previous)}` +
    `,"proof_hash":${canonicalJson(parts.proofHash)},"record":${parts.recordText},"revision":${canonicalJson(parts.revision)}` +
    `,"stream":${canonicalString(parts.stream)},"type":${canonicalString(parts.type)},"v":${ENTRY_VERSION}}`
  );
}

/** The entry of a consent whose record is ASCII: none of these texts but the record needs escaping. */
export interface ConsentEntryParts {
  /** Name of the stream, without characters that JSON escapes. */
  readonly stream: string;
  readonly revision: number;
  /** Leaf hash in hex, or null at revision 0. */
  readonly previous: string | null;
  /** UUID. */
  readonly eventId: string;
  /** In hex. */
  readonly proofHash: string;
  /** In hex. */
  readonly personTag: string;
}

/**
 * Writes the canonical text of consents' entries, as `entryText`, in one step: an export needs a
 * million.
 * @param quote the quotation mark, or the escaped one, for the text within a JSON string
 */
function consentEntryWriter(quote: '"' | '\\"'): (parts: ConsentEntryParts, record: string) => string {
  const escaped = (json: string): string => json.replaceAll('"', quote);
  const eventId = escaped('{"event_id":"');
  const personTag = escaped('","person_tag":"');
  const previous = escaped('","previous":"');
  const noPrevious = escaped('","previous":null');
  const proofHash = escaped(',"proof_hash":"');
  const record = escaped('","record":');
  const revision = escaped(',"revision":');
  const stream = escaped(',"stream":"');
  const end = escaped(`","type":"${CONSENT_RECORDED}","v":${ENTRY_VERSION}}`);
  return (parts, text) => {
    const before = parts.previous === null ? noPrevious : `${previous}${parts.previous}${quote}`;
    return `${eventId}${parts.eventId}${personTag}${parts.personTag}${before}${proofHash}${parts.proofHash}${record}${text}${revision}${parts.revision}${stream}${parts.stream}${end}`;
  };
}

/**
 * The canonical text of a consent's entry, as `entryText`.
 * @param record the record's canonical text
 */
export const consentEntryText = consentEntryWriter('"');

/**
 * `consentEntryText` as JSON escapes it in a string, without the quotation marks.
 * @param record the record's canonical text, escaped in the same way
 */
export const escapedConsentEntryText = consentEntryWriter('\\"');

/** The leaf hash of an entry: SHA-256(0x00 ‖ UTF-8 of its text), 32 bytes. */
export function entryLeaf(text: string): Uint8Array {
  return leafHash(utf8(text));
}

/** The same hash in lower-case hex. */
export function entryLeafHex(text: string): string {
  return sha256Hex(`\0${text}`);
}
