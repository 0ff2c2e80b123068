import type { Mutation, Projection, ProjectionEvent } from '../../../projections/definition.js';
import { UPCASTERS, upcast } from '../../../projections/upcasters.js';
import { decodeUtf8 } from '../../../schemas/crypto/encoding.js';
import { CONSENT_RECORDED, ConsentRecord, ConsentRecordedBody } from '../../../schemas/events/consent-recorded.js';
import { consentOf } from '../../../schemas/events/sealed-event.js';
import type { StreamEvent } from '../event-log/port.js';

/**
 * Returns the changes that an event makes in a projection.
 * @throws any error of the handler
 * @throws Error for a body that is not JSON, a consent that does not match its schemas, and a type
 *   that the projection does not know
 */
export function mutationsOf(projection: Projection, event: StreamEvent): readonly Mutation[] {
  if (projection.ignores.includes(event.type)) return [];
  const content = contentOf(event);
  if (projection.ignores.includes(content.type)) return [];
  const handler = Object.hasOwn(projection.on, content.type) ? projection.on[content.type] : undefined;
  if (handler === undefined) throw new Error(`the projection does not know events of type ${content.type}`);
  const { id, stream, revision } = event;
  return handler({ id, stream, revision, ...content });
}

type Content = Pick<ProjectionEvent, 'type' | 'body' | 'record' | 'consent'>;

function contentOf(event: StreamEvent): Content {
  const consent = consentOf(event);
  const { type, body } = upcast(event.type, consent === null ? parseJson(event.data) : consent.body, UPCASTERS);
  if (consent !== null && body === consent.body) return { type, body, record: consent.record, consent };
  const text = typeof body === 'object' && body !== null && 'record' in body ? body.record : undefined;
  const record: unknown = typeof text === 'string' ? JSON.parse(text) : null;
  if (type !== CONSENT_RECORDED) return { type, body, record, consent: null };
  return {
    ...{ type, body, record },
    consent: { body: ConsentRecordedBody.parse(body), record: ConsentRecord.parse(record) },
  };
}

function parseJson(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  if (text === null) throw new Error('the body is not UTF-8');
  return JSON.parse(text);
}
