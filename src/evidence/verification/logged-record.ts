import type { SealedConsent } from '../../../schemas/events/consent-imported.js';
import { ConsentRecordedBody } from '../../../schemas/events/consent-recorded.js';
import {
  type ConsentType,
  consentOf,
  InvalidEventBody,
  isConsentType,
  parseBody,
  parseConsent,
} from '../../../schemas/events/sealed-event.js';
import { consentsStream } from '../../../schemas/events/streams.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import { LogDiverged } from '../../pipeline/event-log/errors.js';
import type { EventLog, EventPlace, StreamEvent } from '../../pipeline/event-log/port.js';

/** The place of a record in the log, as a row of the read model states it. */
export interface StatedPlace {
  readonly event_id: string;
  readonly site_id: string;
  readonly revision: number;
}

/** A record as the event log has it. None of it is verified yet. */
export interface LoggedRecord {
  readonly type: ConsentType;
  /** The exact text that the proof hash covers. */
  readonly text: string;
  readonly proofHash: string;
  /** Null if the text is not the canonical text of a record. */
  readonly record: SealedConsent | null;
}

/**
 * Reads the records of rows of the read model from the log, in their order. Null: the log has another event
 * at the stated place, or one that is not a consent. The row or the event was altered.
 * @param rows at most some hundreds: their bodies are in memory at once
 * @throws LogDiverged if the log has no event at a stated place: it cannot be read, which proves
 *   nothing about the record
 * @throws EventLogUnavailable
 */
export async function readLoggedRecords(
  eventLog: EventLog,
  rows: readonly StatedPlace[],
): Promise<(LoggedRecord | null)[]> {
  if (rows.length === 0) return [];
  const events = await eventLog.readEvents(rows.map(placeOf));
  return rows.map((row, index) => {
    const event = events[index] ?? null;
    if (event === null) throw lacksRecord(row);
    return event.id === row.event_id ? loggedRecord(event) : null;
  });
}

/** The place that a row states. */
export function placeOf({ site_id: siteId, revision }: StatedPlace): EventPlace {
  return { stream: consentsStream(siteId), revision };
}

/** The log has no event at the place that a row states. */
export function lacksRecord(row: StatedPlace): LogDiverged {
  return new LogDiverged(consentsStream(row.site_id), row.revision, 'the log lacks an event that was read from it');
}

/** Reads the record in an event. @returns null if the event is not a consent, or its body is not one */
export function loggedRecord(event: StreamEvent): LoggedRecord | null {
  const { type } = event;
  if (!isConsentType(type)) return null;
  const consent = consentOf(event);
  if (consent !== null) {
    return { type, text: consent.body.record, proofHash: consent.body.proof_hash, record: consent.record };
  }
  try {
    const body = parseBody(ConsentRecordedBody, type, event.data);
    return { type, text: body.record, proofHash: body.proof_hash, record: readRecord(type, body.record) };
  } catch (error) {
    if (error instanceof InvalidEventBody) return null;
    throw error;
  }
}

function readRecord(type: ConsentType, text: string): SealedConsent | null {
  try {
    const record = parseConsent(type, text);
    return canonicalJson(record) === text ? record : null;
  } catch {
    return null;
  }
}
