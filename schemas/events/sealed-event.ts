import * as z from 'zod';
import { decodeUtf8 } from '../crypto/encoding.js';
import { type ConsentBody, readConsentBody } from '../evidence/consent-body.js';
import { CONSENT_IMPORTED, ImportedConsent, type SealedConsent } from './consent-imported.js';
import { CONSENT_RECORDED, ConsentRecord, ConsentRecordedBody } from './consent-recorded.js';
import { LEDGER_KEY_ANNOUNCED, LedgerKeyAnnouncedRecord } from './ledger-key.js';
import { LEDGER_POLICY_SET, LedgerPolicySetRecord } from './ledger-policy.js';
import {
  DOCUMENT_VERSION_ACTIVATED,
  DOCUMENT_VERSION_PUBLISHED,
  DOCUMENT_VERSION_RETIRED,
  DocumentVersionPublishedRecord,
  DocumentVersionStateRecord,
  PublicEventBody,
} from './notices.js';
import { SITE_CONFIG_PUBLISHED, SiteConfigPublishedRecord } from './site-config.js';
import { SITE_SCANNED, SiteScannedRecord } from './site-scanned.js';
import { SUBJECT_ERASED, SubjectErasedRecord } from './subject-erased.js';

/** The schema of the public part of every event type that is sealed. */
export const SEALED_RECORD_SCHEMAS = {
  [CONSENT_RECORDED]: ConsentRecord,
  [CONSENT_IMPORTED]: ImportedConsent,
  [SUBJECT_ERASED]: SubjectErasedRecord,
  [DOCUMENT_VERSION_PUBLISHED]: DocumentVersionPublishedRecord,
  [DOCUMENT_VERSION_ACTIVATED]: DocumentVersionStateRecord,
  [DOCUMENT_VERSION_RETIRED]: DocumentVersionStateRecord,
  [SITE_CONFIG_PUBLISHED]: SiteConfigPublishedRecord,
  [SITE_SCANNED]: SiteScannedRecord,
  [LEDGER_POLICY_SET]: LedgerPolicySetRecord,
  [LEDGER_KEY_ANNOUNCED]: LedgerKeyAnnouncedRecord,
} as const;
export type SealedEventType = keyof typeof SEALED_RECORD_SCHEMAS;

/** The types of events with a consent: recorded here, or imported from a former tool. */
export const CONSENT_TYPES = [CONSENT_RECORDED, CONSENT_IMPORTED] as const;
export type ConsentType = (typeof CONSENT_TYPES)[number];

/** Whether events of this type have a consent, and the body `ConsentRecordedBody`. */
export function isConsentType(type: string): type is ConsentType {
  return type === CONSENT_RECORDED || type === CONSENT_IMPORTED;
}

/**
 * Returns whether entries of this type have a tag (see `Entry`), which are those of the stream of a site's consents.
 */
export function hasTag(type: string): boolean {
  return isConsentType(type) || type === SUBJECT_ERASED;
}

/** Whether events of this type are in the stream `policy`, and in no other stream. */
export function isOfPolicyStream(type: string): boolean {
  return type === LEDGER_POLICY_SET || type === LEDGER_KEY_ANNOUNCED;
}

export function isSealedEventType(type: string): type is SealedEventType {
  return Object.hasOwn(SEALED_RECORD_SCHEMAS, type);
}

/** A body that does not match its type. */
export class InvalidEventBody extends Error {
  override readonly name = 'InvalidEventBody';
}

/** Parts of an event's body that sealing needs: JCS(record) as text, and its proof hash. */
export interface SealedContent {
  readonly recordText: string;
  readonly proofHash: string | null;
  /** The body of a consent, with its record, if it was read in one pass; otherwise null. */
  readonly consent: ConsentBody | null;
}

/** An event; `consent` is `consentOf` the event, if that was read before. */
export interface EventWithBody {
  readonly type: string;
  readonly data: Uint8Array;
  readonly consent?: ConsentBody | null;
}

/**
 * Returns the body of a consent that was recorded here, read in one pass unless it was read before.
 * @returns null for other types, and for a body that its schema must read: see `readConsentBody`
 */
export function consentOf({ type, data, consent }: EventWithBody): ConsentBody | null {
  if (consent !== undefined) return consent;
  return type === CONSENT_RECORDED ? readConsentBody(data) : null;
}

/**
 * Reads the part of a sealed event's body that goes into its entry.
 * @throws InvalidEventBody
 */
export function sealedContent(event: EventWithBody): SealedContent {
  const { type, data } = event;
  if (isConsentType(type)) {
    const consent = consentOf(event);
    const body = consent?.body ?? parseBody(ConsentRecordedBody, type, data);
    return { recordText: body.record, proofHash: body.proof_hash, consent };
  }
  if (!isSealedEventType(type)) throw new InvalidEventBody(`events of type ${type} are not sealed`);
  return { recordText: parseBody(PublicEventBody, type, data).record, proofHash: null, consent: null };
}

/**
 * Parses the body of an event.
 * @throws InvalidEventBody, naming the type but nothing of the content
 */
export function parseBody<T>(schema: z.ZodType<T>, type: string, data: Uint8Array): T {
  const text = decodeUtf8(data);
  if (text === null) throw new InvalidEventBody(`the body of a ${type} is not UTF-8`);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new InvalidEventBody(`the body of a ${type} is not JSON`);
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success)
    throw new InvalidEventBody(`the body of a ${type} does not match its schema: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/**
 * Parses the record of a sealed event.
 * @throws InvalidEventBody
 */
export function parseRecord<T extends SealedEventType>(
  type: T,
  recordText: string,
): z.infer<(typeof SEALED_RECORD_SCHEMAS)[T]>;
export function parseRecord(type: SealedEventType, recordText: string): unknown {
  const parsed = SEALED_RECORD_SCHEMAS[type].safeParse(JSON.parse(recordText));
  if (!parsed.success)
    throw new InvalidEventBody(`the record of a ${type} does not match its schema: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/**
 * Parses the record of a consent.
 * @throws InvalidEventBody
 */
export function parseConsent(type: ConsentType, recordText: string): SealedConsent {
  return type === CONSENT_RECORDED ? parseRecord(type, recordText) : parseRecord(type, recordText);
}

/**
 * Parses the record of a published configuration.
 * @throws InvalidEventBody
 */
export function parseSiteConfig(recordText: string): SiteConfigPublishedRecord {
  return parseRecord(SITE_CONFIG_PUBLISHED, recordText);
}
