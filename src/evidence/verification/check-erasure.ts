import * as z from 'zod';
import { PublicEventBody } from '../../../schemas/events/notices.js';
import { InvalidEventBody, parseBody, parseRecord } from '../../../schemas/events/sealed-event.js';
import { consentsStream } from '../../../schemas/events/streams.js';
import { SUBJECT_ERASED } from '../../../schemas/events/subject-erased.js';
import type { EventLog } from '../../pipeline/event-log/port.js';
import type { Queryable } from '../../platform/database/pool.js';
import { checkBatch, type OnDamagedNodes } from './check-batch.js';
import { readSealedEvidence } from './sealed-evidence.js';
import type { StoredRecord } from './stored-record.js';

const leafRows = z.array(z.object({ revision: z.int() }));
const unsealedRows = z.array(z.object({ id: z.string(), type: z.string(), data: z.instanceof(Uint8Array) }));

export interface ErasureCheckOptions {
  /** A handle in a transaction with one snapshot. */
  readonly db: Queryable;
  readonly eventLog: EventLog;
  readonly onDamagedNodes: OnDamagedNodes;
}

/**
 * Checks that the `SubjectErased` of a missing key exists and names the record, once it is announced. It must be in the
 * log exactly as it was sealed, or be stored but not sealed yet. The erasure tables prove nothing, because an attacker
 * who deletes a key could also write them.
 * @throws EventLogUnavailable, database errors
 */
export async function isErasureReal(options: ErasureCheckOptions, stored: StoredRecord): Promise<boolean> {
  const { db } = options;
  const { erased_by: erasedBy, erasure_event_id: erasureId } = stored;
  const stream = consentsStream(stored.site_id);
  if (erasedBy !== null && !(await isListedAt(options, stored, erasedBy))) return false;
  if (erasureId === null) return true;
  const leaves = await db.query('select revision from leaves where event_id = $1 and stream = $2', [erasureId, stream]);
  const [leaf] = leafRows.parse(leaves.rows);
  if (leaf !== undefined) return leaf.revision === erasedBy || isListedAt(options, stored, leaf.revision);
  if (erasedBy !== null) return true;
  const { rows } = await db.query(
    'select id::text as id, type, data from event_log.unsealed_events where id = $1 and stream = $2',
    [erasureId, stream],
  );
  return unsealedRows.parse(rows).some((event) => listingText(event, stored) !== null);
}

async function isListedAt(
  { db, eventLog, onDamagedNodes }: ErasureCheckOptions,
  stored: StoredRecord,
  revision: number,
): Promise<boolean> {
  const place = { stream: consentsStream(stored.site_id), revision };
  const [event = null] = await eventLog.readEvents([place]);
  const record = event === null ? null : listingText(event, stored);
  if (event === null || record === null) return false;
  const evidence = await readSealedEvidence(db, place, event.id);
  const entry = { ...place, event_id: event.id, type: SUBJECT_ERASED, record, proof_hash: null };
  return (await checkBatch(db, entry, evidence, onDamagedNodes)) !== false;
}

/** The record text of a `SubjectErased` that names the stored record, or null for any other event. */
function listingText(
  { id, type, data }: { readonly id: string; readonly type: string; readonly data: Uint8Array },
  stored: StoredRecord,
): string | null {
  if (type !== SUBJECT_ERASED) return null;
  try {
    const { record } = parseBody(PublicEventBody, type, data);
    const erased = parseRecord(SUBJECT_ERASED, record);
    const isOfSite = erased.event_id === id && erased.site_id === stored.site_id;
    return isOfSite && erased.erased_event_id === stored.event_id ? record : null;
  } catch (error) {
    if (error instanceof InvalidEventBody || error instanceof SyntaxError) return null;
    throw error;
  }
}
