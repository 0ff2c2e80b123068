import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { LOG_STARTED } from '../../../schemas/events/ledger.js';
import { InvalidEventBody, parseBody } from '../../../schemas/events/sealed-event.js';
import { LOG_IDENTITY_STREAM } from '../../../schemas/events/streams.js';
import { AppendOutcomeUnknown, LogDiverged, LogIdentityMismatch, RevisionConflict } from './errors.js';
import { type EventLog, type NewEvent, NO_STREAM } from './port.js';

const MAX_ATTEMPTS = 5;
const NOTHING = new Uint8Array(0);

const logStarted = z.strictObject({
  log_id: z.uuid().regex(/^[0-9a-f-]+$/),
  created_at: z.iso.datetime({ precision: 3 }),
});

/**
 * Returns the identity of a log (a UUID), which a copy of the log keeps. An empty log that was
 * never used receives a new identity.
 * @param storedIdentity the identity that PostgreSQL has stored, or null at the first start
 * @returns the identity, for the caller to store
 * @throws LogIdentityMismatch if the log has another identity than the stored one, or none
 * @throws EventLogUnavailable, AppendOutcomeUnknown (call again)
 */
export async function ensureLogIdentity(eventLog: EventLog, storedIdentity: string | null): Promise<string> {
  const found = await readLogIdentity(eventLog);
  if (storedIdentity !== null && found !== storedIdentity) throw new LogIdentityMismatch(storedIdentity, found);
  return found ?? (await writeLogIdentity(eventLog, randomUUID()));
}

/**
 * Returns the identity of a log, or null if it has none yet.
 * @throws LogDiverged if another program wrote the first event of its stream; EventLogUnavailable
 */
export async function readLogIdentity(eventLog: EventLog): Promise<string | null> {
  const [event] = await eventLog.readStream(LOG_IDENTITY_STREAM, 0, 1);
  if (event === undefined) return null;
  try {
    return parseBody(logStarted, LOG_STARTED, event.type === LOG_STARTED ? event.data : NOTHING).log_id;
  } catch (error) {
    if (!(error instanceof InvalidEventBody)) throw error;
    throw new LogDiverged(LOG_IDENTITY_STREAM, 0, 'the service did not write this event');
  }
}

/**
 * Writes the identity of a log that has none: a new one or, for `admin log recover`, that of the log that it replaces.
 * @returns the identity that the log has now; a different one if another process was first
 */
export async function writeLogIdentity(eventLog: EventLog, identity: string): Promise<string> {
  const event = startEvent(identity);
  let failure: unknown;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    try {
      await eventLog.append(LOG_IDENTITY_STREAM, NO_STREAM, [event]);
      return identity;
    } catch (error) {
      if (!(error instanceof RevisionConflict || error instanceof AppendOutcomeUnknown)) throw error;
      failure = error;
    }
    const found = await readLogIdentity(eventLog);
    if (found !== null) return found;
  }
  throw failure;
}

function startEvent(identity: string): NewEvent {
  const body = logStarted.parse({ log_id: identity, created_at: new Date().toISOString() });
  return {
    id: randomUUID(),
    type: LOG_STARTED,
    data: new TextEncoder().encode(JSON.stringify({ created_at: body.created_at, log_id: body.log_id })),
    metadata: new Uint8Array(0),
  };
}
