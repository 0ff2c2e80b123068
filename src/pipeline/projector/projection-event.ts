import type { Mutation, Projection, ProjectionEvent } from '../../../projections/definition.js';
import { UPCASTERS, upcast } from '../../../projections/upcasters.js';
import { decodeUtf8 } from '../../../schemas/crypto/encoding.js';
import type { StreamEvent } from '../event-log/port.js';

/**
 * Returns the changes that an event makes in a projection.
 * @throws any error of the handler
 * @throws Error for a body that is not JSON, and for a type that the projection does not know
 */
export function mutationsOf(projection: Projection, event: StreamEvent): readonly Mutation[] {
  if (projection.ignores.includes(event.type)) return [];
  const { type, body } = upcast(event.type, parseJson(event.data), UPCASTERS);
  if (projection.ignores.includes(type)) return [];
  const handler = Object.hasOwn(projection.on, type) ? projection.on[type] : undefined;
  if (handler === undefined) throw new Error(`the projection does not know events of type ${type}`);
  return handler(projectionEvent(event, type, body));
}

function projectionEvent(event: StreamEvent, type: string, body: unknown): ProjectionEvent {
  const { id, stream, revision } = event;
  const text = typeof body === 'object' && body !== null && 'record' in body ? body.record : undefined;
  return { id, type, stream, revision, body, record: typeof text === 'string' ? JSON.parse(text) : null };
}

function parseJson(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  if (text === null) throw new Error('the body is not UTF-8');
  return JSON.parse(text);
}
