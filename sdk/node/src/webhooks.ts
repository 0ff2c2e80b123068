import { createHmac, timingSafeEqual } from 'node:crypto';
import { WEBHOOK_MESSAGES } from '../../../schemas/api/panel/webhook-events.js';

/** An event that the service sent to a webhook. */
export interface WebhookEvent {
  /** The same id for every attempt, so that an event that was already processed is recognised. */
  readonly id: string;
  readonly type:
    | 'consent.recorded'
    | 'consent.withdrawn'
    | 'objection.recorded'
    | 'objection.ended'
    | 'consent.erased'
    | 'evidence.stamped'
    | 'idempotency.conflict'
    | 'webhook.test';
  /** Time of the event, RFC 3339. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Headers of a request, with names in any case: an object, as Node and API Gateway have it, whose values may be
 * lists; or pairs, as `Headers` of the Fetch standard and a `Map` give them.
 */
export type WebhookHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | Iterable<readonly [string, string | readonly string[]]>;

/** The service did not send this request, or not just now. */
export class InvalidWebhook extends Error {
  override readonly name = 'InvalidWebhook';
}

const TYPES: readonly WebhookEvent['type'][] = WEBHOOK_MESSAGES;
const TOLERANCE_SECONDS = 300;
const PREFIX = 'whsec_';
const MIN_KEY_BYTES = 24;

/**
 * Verifies a request of the service to a webhook (Standard Webhooks, `v1`).
 * @param body the exact body, before it is parsed, as text or bytes
 * @param headers headers of the request
 * @param secret `whsec_…`, from the response that created the webhook
 * @param now time in milliseconds since 1970; the request may be 5 minutes older or newer
 * @throws InvalidWebhook; RangeError if the secret is not one of the service
 */
export function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  now: number = Date.now(),
): WebhookEvent {
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new InvalidWebhook('The body has been parsed: give the text or the bytes that were received.');
  const values = valuesByName(headers);
  const id = onlyValue(values, 'webhook-id');
  const timestamp = onlyValue(values, 'webhook-timestamp');
  const signatures = valuesOf(values, 'webhook-signature').join(' ');
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now / 1000 - Number(timestamp)) > TOLERANCE_SECONDS)
    throw new InvalidWebhook('The request is older or newer than 5 minutes.');
  const key = keyOf(secret);
  const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  const expected = Buffer.from(`v1,${digest}`);
  const isSigned = signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isSigned) throw new InvalidWebhook('The signature does not match the body and the secret.');
  return { id, ...eventIn(Buffer.from(body).toString('utf8')) };
}

function valuesByName(headers: WebhookHeaders): ReadonlyMap<string, readonly string[]> {
  const pairs = isPairs(headers) ? [...headers] : Object.entries(headers);
  const values = new Map<string, readonly string[]>();
  for (const [name, value = []] of pairs) {
    const key = name.toLowerCase();
    values.set(key, [...(values.get(key) ?? []), ...(typeof value === 'string' ? [value] : value)]);
  }
  return values;
}

function isPairs(headers: WebhookHeaders): headers is Extract<WebhookHeaders, Iterable<unknown>> {
  return Symbol.iterator in headers;
}

function valuesOf(values: ReadonlyMap<string, readonly string[]>, name: string): readonly string[] {
  const found = values.get(name) ?? [];
  if (found.length === 0) throw new InvalidWebhook(`The header ${name} is missing.`);
  return found;
}

function onlyValue(values: ReadonlyMap<string, readonly string[]>, name: string): string {
  const [value, ...others] = valuesOf(values, name);
  if (value === undefined || others.length > 0) throw new InvalidWebhook(`The header ${name} has several values.`);
  return value;
}

/** @throws RangeError for an empty key, with which anyone could sign */
function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : '', 'base64');
  if (key.length < MIN_KEY_BYTES) throw new RangeError('The secret of the webhook must be the whole text whsec_….');
  return key;
}

function eventIn(body: string): Omit<WebhookEvent, 'id'> {
  const parsed: unknown = JSON.parse(body);
  if (isEvent(parsed)) return { type: parsed.type, timestamp: parsed.timestamp, data: parsed.data };
  throw new InvalidWebhook('The body is not an event that this version knows.');
}

function isEvent(value: unknown): value is Omit<WebhookEvent, 'id'> {
  if (typeof value !== 'object' || value === null) return false;
  if (!('type' in value && 'timestamp' in value && 'data' in value)) return false;
  const { type, timestamp, data } = value;
  return (
    typeof type === 'string' &&
    TYPES.some((one) => one === type) &&
    typeof timestamp === 'string' &&
    typeof data === 'object' &&
    data !== null
  );
}
