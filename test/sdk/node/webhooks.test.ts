import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { InvalidWebhook, verifyWebhook, type WebhookHeaders } from '../../../sdk/node/src/webhooks.js';

const NOW = Date.UTC(2026, 0, 1);
const KEY = Buffer.alloc(24, 7);
const SECRET = `whsec_${KEY.toString('base64')}`;
const EVENT = { type: 'consent.recorded', timestamp: '2026-01-01T00:00:00.000Z', data: { text: 'ş' } };
const BODY = JSON.stringify(EVENT);
const TIME = String(NOW / 1000);
const SIGNATURE = `v1,${createHmac('sha256', KEY).update(`evt_1.${TIME}.${BODY}`).digest('base64')}`;
const LOWER = { 'webhook-id': 'evt_1', 'webhook-timestamp': TIME, 'webhook-signature': SIGNATURE };
const TITLE = { 'Webhook-Id': 'evt_1', 'Webhook-Timestamp': TIME, 'Webhook-Signature': SIGNATURE };
const lists = Object.fromEntries(Object.entries(TITLE).map(([name, value]) => [name, [value]]));

describe('a webhook', () => {
  const containers: readonly (readonly [string, WebhookHeaders])[] = [
    ['an object, as Node has it', LOWER],
    ['an object with title case, as API Gateway has it', TITLE],
    ['lists of values, as multiValueHeaders', lists],
    ['Headers', new Headers(TITLE)],
    ['a Map', new Map(Object.entries(TITLE))],
    ['pairs', Object.entries(LOWER)],
    ['a signature of two secrets in two values', { ...LOWER, 'webhook-signature': ['v1,other', SIGNATURE] }],
  ];
  test.each(containers)('is read from %s, with its body as text or bytes', (_, headers) => {
    for (const body of [BODY, Buffer.from(BODY), new TextEncoder().encode(BODY)])
      expect(verifyWebhook(body, headers, SECRET, NOW)).toEqual({ id: 'evt_1', ...EVENT });
  });

  test.each([
    ['The header webhook-id is missing', BODY, { ...LOWER, 'webhook-id': undefined }],
    ['The header webhook-id has several values', BODY, { ...LOWER, 'Webhook-Id': 'evt_2' }],
    ['The header webhook-signature is missing', BODY, { ...LOWER, 'webhook-signature': [] }],
    ['The signature does not match', `${BODY} `, LOWER],
    ['The signature does not match', new Uint8Array(), LOWER],
  ] satisfies readonly (readonly [string, string | Uint8Array, WebhookHeaders])[])(
    'says “%s”',
    (message, body, headers) => {
      expect(() => verifyWebhook(body, headers, SECRET, NOW)).toThrow(InvalidWebhook);
      expect(() => verifyWebhook(body, headers, SECRET, NOW)).toThrow(message);
    },
  );

  test('says that a body was parsed', () => {
    expect(() => verifyWebhook(JSON.parse(BODY), LOWER, SECRET, NOW)).toThrow('The body has been parsed');
  });
});
