import { z } from 'zod';
import type { LoggedEvent, StreamEvent } from '../port.js';
import { decodeMetadata } from './metadata.js';
import { formatPosition } from './positions.js';

const recorded = z.object({
  streamId: z.string(),
  revision: z.bigint().nonnegative().max(BigInt(Number.MAX_SAFE_INTEGER)),
  id: z.string(),
  type: z.string(),
  data: z.instanceof(Uint8Array, { error: 'an event that is not binary was written by another program' }),
  metadata: z.unknown(),
});
const named = z.object({ streamId: z.string(), type: z.string(), position: z.unknown() });

/** An event that the server writes for itself (statistics, stream metadata, links), which is not part of the log. */
export function isSystemEvent(event: unknown): boolean {
  const { streamId, type } = named.parse(event);
  return streamId.startsWith('$') || type.startsWith('$');
}

/** An event as the client gives it, as a `StreamEvent`. */
export function toStreamEvent(event: unknown): StreamEvent {
  const { streamId, revision, id, type, data, metadata } = recorded.parse(event);
  return { stream: streamId, revision: Number(revision), id, type, data, metadata: decodeMetadata(metadata) };
}

/** An event of `$all` as the client gives it, as a `LoggedEvent`. */
export function toLoggedEvent(event: unknown): LoggedEvent {
  return { ...toStreamEvent(event), position: positionOf(event) };
}

/** Position of an event of `$all`, system events included. */
export function positionOf(event: unknown): string {
  return formatPosition(named.parse(event).position);
}
