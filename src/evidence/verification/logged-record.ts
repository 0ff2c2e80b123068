import * as z from 'zod';
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
import type { Queryable } from '../../platform/database/pool.js';

/** The position of a record in the log, as a row of the read model states it. */
export interface StatedPlace {
  readonly event_id: string;
  readonly site_id: string;
  readonly revision: number;
}

/** A record from the event log. None of it is verified yet. */
export interface LoggedRecord {
  readonly type: ConsentType;
  /** The exact text that the proof hash covers. */
  readonly text: string;
  readonly proofHash: string;
  /** Null if the text is not the canonical text of a record. */
  readonly record: SealedConsent | null;
}

/**
 * Reads from the log the records of some rows of the read model, in their order. A record is null if the log has
 * another event at the stated position, or one that is not a consent; then the row or the event was altered.
 * @param rows the rows, at most a few hundred, because all bodies are in memory at once
 * @throws LogDiverged if the log has no event at a stated position, which proves nothing about the record
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

const SealedPlaces = z.array(z.object({ stream: z.string(), revision: z.int() }));

/**
 * Reads the events of records at the positions under which they were sealed, for rows of the read model that state
 * another position or none.
 * @param eventIds the identifiers, at most a few hundred
 * @returns the events by id, without those that are not sealed or not at their position
 * @throws EventLogUnavailable; database errors
 */
export async function readSealedEvents(
  db: Queryable,
  eventLog: Pick<EventLog, 'readEvents'>,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, StreamEvent>> {
  if (eventIds.length === 0) return new Map();
  const { rows } = await db.query('select stream, revision from leaves where event_id = any($1::uuid[])', [eventIds]);
  const events = await eventLog.readEvents(SealedPlaces.parse(rows));
  return new Map(events.flatMap((event) => (event === null ? [] : [[event.id, event]])));
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
