import { sha256 } from '../../../schemas/crypto/digest.js';
import { toBase64, toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { CHECKPOINT_STAMPED } from '../../../schemas/events/ledger.js';
import type { StatedTime } from '../../timestamping/acceptance.js';
import type { ObtainedTimestamp, TimestampClient } from '../../timestamping/client.js';
import type { NewEvent } from '../event-log/port.js';
import { ledgerEvent } from '../ledger/append-to-ledger.js';
import { evidenceDigests } from './keep-evidence.js';

export interface StampRequest {
  /** Note of the checkpoint; the time stamp is over its exact bytes. */
  readonly note: string;
  /** The newest time stamp of a smaller checkpoint; the new one must not precede it. */
  readonly previous: StatedTime | null;
  /** Organizations whose time stamps the checkpoint has. */
  readonly exclude: readonly string[];
}

/** A time stamp, and the SHA-256 of its response in hex. */
export interface ObtainedStamp {
  readonly stamp: ObtainedTimestamp;
  readonly sha256: string;
}

/**
 * Obtains a time stamp for a note.
 * @throws TimestampUnavailable
 */
export async function obtainStamp(
  client: TimestampClient,
  { note, previous, exclude }: StampRequest,
  signal: AbortSignal,
): Promise<ObtainedStamp> {
  const stamp = await client.stamp(utf8(note), { signal, exclude, ...(previous && { previous }) });
  return { stamp, sha256: toHex(sha256(stamp.response)) };
}

/**
 * Builds the event of a time stamp. `keepEvidence` comes before it.
 * @param number place among the time stamps of the checkpoint, from 1
 * @param quorum number of authorities that must stamp a checkpoint
 */
export function stampedEvent(
  { stamp }: ObtainedStamp,
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
    ...evidenceDigests(stamp),
  });
}
