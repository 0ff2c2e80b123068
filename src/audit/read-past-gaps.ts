import { RevisionGap } from '../pipeline/event-log/errors.js';
import type { EventLog, StreamEvent } from '../pipeline/event-log/port.js';

/**
 * Reads the next events of a stream that the log still has. Revisions that it lacks are findings of
 * the audit of the log and of the ledger, and must not end the audit.
 * @param from the first revision that is wanted
 * @returns at most `limit` events without a gap between them; empty at the end of the stream
 */
export async function readPastGaps(
  eventLog: EventLog,
  stream: string,
  from: number,
  limit: number,
): Promise<readonly StreamEvent[]> {
  try {
    return await eventLog.readStream(stream, from, limit);
  } catch (error) {
    if (!(error instanceof RevisionGap)) throw error;
    const known = error.expectedRevision - from;
    return known > 0
      ? await eventLog.readStream(stream, from, known)
      : await readPastGaps(eventLog, stream, error.foundRevision, limit);
  }
}
