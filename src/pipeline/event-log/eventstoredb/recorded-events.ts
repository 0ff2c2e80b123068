import * as z from 'zod';
import type { LoggedEvent, StreamEvent } from '../port.js';
import { decodeMetadata } from './metadata.js';
import { formatPosition } from './positions.js';

const recorded = z.object({
  streamId: z.string(),
  revision: z.bigint().nonnegative().max(BigInt(Number.MAX_SAFE_INTEGER)),
  id: z.string(),
  type: z.string(),
  // An event that another program wrote as JSON. The client gives its value, not its bytes.
  data: z.union([z.instanceof(Uint8Array), z.unknown().transform(() => new Uint8Array(0))]),
  metadata: z.unknown(),
});
const named = z.object({ streamId: z.string(), type: z.string(), position: z.unknown() });

/**
 * Returns whether the server wrote the event for itself (statistics, stream metadata, links). Such
 * an event is not part of the log.
 */
export function isSystemEvent(event: unknown): boolean {
  const { streamId, type } = named.parse(event);
  return streamId.startsWith('$') || type.startsWith('$');
}

/**
 * Converts an event of the client to a `StreamEvent`. One that is not binary was not written by this
 * service, and has an empty body.
 */
export function toStreamEvent(event: unknown): StreamEvent {
  const { streamId, revision, id, type, data, metadata } = recorded.parse(event);
  return { stream: streamId, revision: Number(revision), id, type, data, metadata: decodeMetadata(metadata) };
}

/** Converts an event of `$all` to a `LoggedEvent`. */
export function toLoggedEvent(event: unknown): LoggedEvent {
  return { ...toStreamEvent(event), position: positionOf(event) };
}

/** Returns the position of an event of `$all`; system events have one too. */
export function positionOf(event: unknown): string {
  return formatPosition(named.parse(event).position);
}
