import type { Handler, Mutation, Projection, ProjectionEvent } from '../../../projections/definition.js';
import { EVENT_TYPES } from '../../../projections/event-types.js';
import { newestType, UPCASTERS, upcast } from '../../../projections/upcasters.js';
import { decodeUtf8 } from '../../../schemas/crypto/encoding.js';
import { ConsentRecordedBody } from '../../../schemas/events/consent-recorded.js';
import { consentOf, isConsentType, SEALED_RECORD_SCHEMAS } from '../../../schemas/events/sealed-event.js';
import type { StreamEvent } from '../event-log/port.js';

/**
 * Returns the changes that an event makes in a projection.
 * @throws any error of the handler
 * @throws Error for a body that is not JSON, a consent that does not match its schemas, and a type
 *   that the projection neither handles nor ignores; the message names every such type
 */
export function mutationsOf(projection: Projection, event: StreamEvent): readonly Mutation[] {
  const { ignores } = projection;
  const type = newestType(event.type);
  if (ignores !== '*' && (ignores.includes(event.type) || ignores.includes(type))) return [];
  const handler = handlerOf(projection, type);
  if (handler === undefined) {
    if (ignores === '*') return [];
    throw new Error(unknownType(projection, ignores, type));
  }
  const { id, stream, revision } = event;
  return handler({ id, stream, revision, ...contentOf(event) });
}

function handlerOf({ on }: Projection, type: string): Handler | undefined {
  return Object.hasOwn(on, type) ? on[type] : undefined;
}

function unknownType(projection: Projection, ignored: readonly string[], type: string): string {
  const missing = EVENT_TYPES.filter(
    (known) => known !== type && !ignored.includes(known) && handlerOf(projection, known) === undefined,
  );
  const others = missing.length === 0 ? '' : ` It also lacks ${missing.join(', ')}.`;
  return (
    `the projection neither handles nor ignores events of type ${type}.${others} ` +
    "Name each type in `on` or in `ignores`, or ignore all others with `ignores: '*'`."
  );
}

type Content = Pick<ProjectionEvent, 'type' | 'body' | 'record' | 'consent'>;

function contentOf(event: StreamEvent): Content {
  const consent = consentOf(event);
  const { type, body } = upcast(event.type, consent === null ? parseJson(event.data) : consent.body, UPCASTERS);
  if (consent !== null && body === consent.body) return { type, body, record: consent.record, consent };
  const text = typeof body === 'object' && body !== null && 'record' in body ? body.record : undefined;
  const record: unknown = typeof text === 'string' ? JSON.parse(text) : null;
  if (!isConsentType(type)) return { type, body, record, consent: null };
  return {
    ...{ type, body, record },
    consent: { body: ConsentRecordedBody.parse(body), record: SEALED_RECORD_SCHEMAS[type].parse(record) },
  };
}

function parseJson(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  if (text === null) throw new Error('the body is not UTF-8');
  return JSON.parse(text);
}
