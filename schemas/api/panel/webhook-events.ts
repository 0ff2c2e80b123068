/**
 * Events that the service sends to a webhook. This file does not import zod, because the page of the dashboard uses it.
 */
export const WEBHOOK_EVENTS = [
  'consent.recorded',
  'consent.withdrawn',
  'consent.erased',
  'objection.recorded',
  'objection.ended',
  'evidence.stamped',
  'idempotency.conflict',
] as const;

/** Every type of message: the events, and the test message that a user requests. */
export const WEBHOOK_MESSAGES = [...WEBHOOK_EVENTS, 'webhook.test'] as const;
