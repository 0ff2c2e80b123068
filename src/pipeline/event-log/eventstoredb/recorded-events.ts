import * as z from 'zod';
import type { LoggedEvent, Position, StreamEvent } from '../port.js';

const recorded = z.object({
  streamId: z.string(),
  revision: z.bigint().nonnegative().max(BigInt(Number.MAX_SAFE_INTEGER)),
  id: z.string(),
  type: z.string(),
  // An event that another program wrote as JSON. The client returns its value, not its bytes.
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
 * Converts an event of the client to a `StreamEvent`. An event that is not binary was not written by this service, and
 * has an empty body.
 */
export function toStreamEvent(event: unknown): StreamEvent {
  const { streamId, revision, id, type, data, metadata } = recorded.parse(event);
  return { stream: streamId, revision: Number(revision), id, type, data, metadata: decodeMetadata(metadata) };
}

/** Converts an event of `$all` to a `LoggedEvent`. */
export function toLoggedEvent(event: unknown): LoggedEvent {
  return { ...toStreamEvent(event), position: positionOf(event) };
}

/** Returns the position of an event of `$all`. System events also have one. */
export function positionOf(event: unknown): string {
  return formatPosition(named.parse(event).position);
}

/**
 * Stores custom metadata byte for byte. The client parses all JSON metadata and keeps only the value. Therefore only
 * JSON text that serialises to the same bytes is stored as it is, which keeps it readable. Other bytes are prefixed
 * with a frame byte, so that they are not JSON and the client leaves them unchanged.
 */
const FRAME = 0;

/** Encodes the metadata of an event for the client, or undefined if it is empty. */
export function encodeMetadata(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.byteLength === 0) return undefined;
  if (survivesParsing(bytes)) return Uint8Array.from(bytes);
  const framed = new Uint8Array(bytes.byteLength + 1);
  framed[0] = FRAME;
  framed.set(bytes, 1);
  return framed;
}

/** Decodes the metadata of the client to the bytes that `encodeMetadata` received. */
function decodeMetadata(metadata: unknown): Uint8Array {
  if (metadata === undefined) return new Uint8Array(0);
  if (!(metadata instanceof Uint8Array)) return new TextEncoder().encode(JSON.stringify(metadata));
  return metadata[0] === FRAME ? metadata.subarray(1) : metadata;
}

function survivesParsing(bytes: Uint8Array): boolean {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return Buffer.from(JSON.stringify(value), 'utf8').equals(bytes);
  } catch {
    return false;
  }
}

const POSITION = /^(\d{20})\/(\d{20})$/;
const pair = z.object({ commit: z.bigint().nonnegative(), prepare: z.bigint().nonnegative() });

/** Formats a position of `$all` so that positions compare as strings. */
function formatPosition(position: unknown): Position {
  const { commit, prepare } = pair.parse(position);
  return `${commit.toString().padStart(20, '0')}/${prepare.toString().padStart(20, '0')}`;
}

/**
 * Parses a position to the form of the client.
 * @throws TypeError for a position of another adapter, or an invalid one
 */
export function parsePosition(position: Position): { commit: bigint; prepare: bigint } {
  const [, commit, prepare] = POSITION.exec(position) ?? [];
  if (commit === undefined || prepare === undefined) {
    throw new TypeError(`not a position of this log: ${JSON.stringify(position)}`);
  }
  return { commit: BigInt(commit), prepare: BigInt(prepare) };
}
