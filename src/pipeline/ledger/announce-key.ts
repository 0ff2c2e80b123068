import { randomUUID } from 'node:crypto';
import type { BatchSealedBody } from '../../../schemas/events/ledger.js';
import { LEDGER_KEY_ANNOUNCED, type LedgerKeyAnnouncedRecord } from '../../../schemas/events/ledger-key.js';
import { PublicEventBody } from '../../../schemas/events/notices.js';
import { InvalidEventBody, parseBody, parseRecord } from '../../../schemas/events/sealed-event.js';
import { POLICY_STREAM } from '../../../schemas/events/streams.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { EventLog, StreamEvent } from '../event-log/port.js';
import { appendToPolicyStream, policyStreamEvent } from './policy-stream.js';
import type { Run } from './runs.js';

/**
 * Appends the announcement of the ledger's next keys to the stream `policy`, unless it is there. Any number
 * of processes may do this concurrently.
 * @param db in the role `consent_ledger_worker`
 * @param keys verifier-key lines of Ed25519 and ML-DSA-44, of keys that are stored already
 * @param now time for `created_at` of the event
 * @throws the errors of `appendToPolicyStream`; InvalidEventBody
 */
export async function announceLedgerKey(
  db: Queryable,
  eventLog: EventLog,
  keys: readonly string[],
  now: () => Date | Promise<Date>,
): Promise<void> {
  await appendToPolicyStream(db, eventLog, async (events) => {
    const isThere = events.some((event) => announcedBy(event)?.keys[0] === keys[0]);
    if (isThere) return null;
    return policyStreamEvent(LEDGER_KEY_ANNOUNCED, {
      v: 1,
      event_id: randomUUID(),
      created_at: (await now()).toISOString(),
      keys: [...keys],
    });
  });
}

/**
 * Reads the announcement of keys among the events of a batch, as the event of the batch states it.
 * @param runs of the batch
 * @throws InvalidEventBody if it is malformed, or the batch has two; RevisionGap, EventLogUnavailable
 */
export async function readAnnounced(eventLog: EventLog, runs: readonly Run[]): Promise<BatchSealedBody['announced']> {
  const run = runs.find(([stream]) => stream === POLICY_STREAM);
  if (run === undefined) return undefined;
  const [, first, last] = run;
  let found: BatchSealedBody['announced'];
  for (let next = first; next <= last; ) {
    const page = await eventLog.readStream(POLICY_STREAM, next, last - next + 1);
    if (page.length === 0) throw new InvalidEventBody(`${POLICY_STREAM} has no revision ${next}`);
    for (const event of page) {
      const record = announcedBy(event);
      if (record === null) continue;
      const [key, mlDsaKey, ...more] = record.keys;
      if (found !== undefined || key === undefined || mlDsaKey === undefined || more.length > 0)
        throw new InvalidEventBody(`${POLICY_STREAM}, revision ${event.revision}: these keys cannot follow`);
      found = { revision: event.revision, key, ml_dsa_key: mlDsaKey };
    }
    next += page.length;
  }
  return found;
}

function announcedBy({ type, data }: StreamEvent): LedgerKeyAnnouncedRecord | null {
  if (type !== LEDGER_KEY_ANNOUNCED) return null;
  return parseRecord(LEDGER_KEY_ANNOUNCED, parseBody(PublicEventBody, type, data).record);
}
