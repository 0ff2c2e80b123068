import { toBase64, utf8 } from '../../../schemas/crypto/encoding.js';
import { CHECKPOINT_STAMPED } from '../../../schemas/events/ledger.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { StatedTime } from '../../timestamping/acceptance.js';
import type { ObtainedTimestamp, TimestampClient } from '../../timestamping/client.js';
import type { NewEvent } from '../event-log/port.js';
import { ledgerEvent } from '../ledger/append-to-ledger.js';
import { storeEvidence } from './evidence-store.js';

export interface StampRequest {
  readonly size: number;
  /** Note of the checkpoint; its exact bytes are time-stamped. */
  readonly note: string;
  /** The newest time stamp; the new one must not precede it. */
  readonly previous: StatedTime | null;
}

/**
 * Obtains a time stamp for a note and stores the evidence of the token before any event refers to
 * it.
 * @returns the time stamp, and the `CheckpointStamped` event to append to `ledger`
 * @throws TimestampUnavailable
 */
export async function obtainStamp(
  { db, client }: { readonly db: Queryable; readonly client: TimestampClient },
  { size, note, previous }: StampRequest,
  signal: AbortSignal,
): Promise<{ readonly stamp: ObtainedTimestamp; readonly event: NewEvent }> {
  const stamp = await client.stamp(utf8(note), { signal, ...(previous && { previous }) });
  const digests = await storeEvidence(db, stamp);
  const event = ledgerEvent(CHECKPOINT_STAMPED, {
    v: 1,
    size,
    note,
    tsr: toBase64(stamp.response),
    authority: stamp.authority,
    gen_time: stamp.genTime.toISOString(),
    ...digests,
  });
  return { stamp, event };
}
