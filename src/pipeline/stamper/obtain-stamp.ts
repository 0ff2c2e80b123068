import { sha256 } from '../../../schemas/crypto/digest.js';
import { toBase64, toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { CHECKPOINT_STAMPED } from '../../../schemas/events/ledger.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { StatedTime } from '../../timestamping/acceptance.js';
import type { ObtainedTimestamp, TimestampClient } from '../../timestamping/client.js';
import type { NewEvent } from '../event-log/port.js';
import { ledgerEvent } from '../ledger/append-to-ledger.js';
import { type EvidenceDigests, storeEvidence } from './evidence-store.js';

export interface StampRequest {
  /** Note of the checkpoint; the time stamp is over its exact bytes. */
  readonly note: string;
  /** The newest time stamp of a smaller checkpoint; the new one must not precede it. */
  readonly previous: StatedTime | null;
  /** Organizations whose time stamps the checkpoint has. */
  readonly exclude: readonly string[];
}

/** A time stamp whose evidence is stored, before an event names it. */
export interface StoredStamp {
  readonly stamp: ObtainedTimestamp;
  readonly digests: EvidenceDigests;
  /** SHA-256 of the response, in hex. */
  readonly sha256: string;
}

/**
 * Obtains a time stamp for a note and stores the evidence of the token before any event refers to
 * it.
 * @throws TimestampUnavailable
 */
export async function obtainStamp(
  { db, client }: { readonly db: Queryable; readonly client: TimestampClient },
  { note, previous, exclude }: StampRequest,
  signal: AbortSignal,
): Promise<StoredStamp> {
  const stamp = await client.stamp(utf8(note), { signal, exclude, ...(previous && { previous }) });
  return { stamp, digests: await storeEvidence(db, stamp), sha256: toHex(sha256(stamp.response)) };
}

/**
 * Builds the event of a time stamp.
 * @param number place among the time stamps of the checkpoint, from 1
 * @param quorum number of authorities that must stamp a checkpoint
 */
export function stampedEvent(
  { stamp, digests }: StoredStamp,
  { size, note, number, quorum }: Readonly<Record<'size' | 'number' | 'quorum', number>> & { readonly note: string },
): NewEvent {
  return ledgerEvent(CHECKPOINT_STAMPED, {
    v: 1,
    size,
    number,
    quorum,
    note,
    tsr: toBase64(stamp.response),
    authority: stamp.authority,
    organization: stamp.organization,
    gen_time: stamp.genTime.toISOString(),
    ...digests,
  });
}
