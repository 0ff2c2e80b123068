import { createHmac } from 'node:crypto';
import type { WebhookDelivery } from '../../../schemas/api/panel/webhook-deliveries.js';
import { lateMembersOf, servicesOf } from '../../../schemas/events/consent-imported.js';
import { CONSENT_RECORDED, consentToken } from '../../../schemas/events/consent-recorded.js';
import { parseRecord, sealedContent } from '../../../schemas/events/sealed-event.js';
import { SUBJECT_ERASED } from '../../../schemas/events/subject-erased.js';
import { OBJECTION_TYPE } from '../../../schemas/law/acts.js';
import type { Act } from '../../../schemas/law/periods.js';
import type { StreamEvent } from '../event-log/port.js';

/** One event for webhooks, in the form of Standard Webhooks. It contains no personal value. */
export interface WebhookMessage {
  /** The id is the same for every attempt and every webhook. */
  readonly id: string;
  readonly type: WebhookDelivery['type'];
  /** Time of the event, RFC 3339. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
  /**
   * Its position among messages of its kind: revision, size of a checkpoint, or number of a conflict. It is not sent.
   */
  readonly place: number;
  /** The record that the message is about, or null if there is none, or if it was erased. It is not sent. */
  readonly recordId: string | null;
}

/** A time stamp that covers further records of a site. */
export interface StampedRecords {
  readonly siteId: string;
  readonly checkpointSize: number;
  readonly stampedAt: Date;
  /** Highest revision of the site's consents below the checkpoint. */
  readonly revision: number;
}

/**
 * Turns an event of a site's consents into a message.
 * @returns null for other events, including imported consents, which happened in the past and are not news to a
 * receiver
 * @throws InvalidEventBody
 */
export function messageOf(event: Omit<StreamEvent, 'stream' | 'metadata'>): WebhookMessage | null {
  const { id, type, revision } = event;
  if (type === SUBJECT_ERASED) {
    const record = parseRecord(SUBJECT_ERASED, sealedContent(event).recordText);
    return {
      id: `msg_${id}`,
      type: 'consent.erased',
      timestamp: record.created_at,
      data: {
        site_id: record.site_id,
        event_id: record.erased_event_id,
        consent_token: consentToken(record.erased_event_id),
        reason: record.reason,
        erased_by_event_id: id,
        revision,
      },
      place: revision,
      recordId: null,
    };
  }
  if (type !== CONSENT_RECORDED) return null;
  const { recordText, proofHash } = sealedContent(event);
  const record = parseRecord(CONSENT_RECORDED, recordText);
  return {
    id: `msg_${id}`,
    type: typeOf(record),
    timestamp: record.created_at,
    data: {
      site_id: record.site_id,
      event_id: id,
      consent_token: consentToken(id),
      consent_type: record.consent_type,
      decision: record.decision,
      categories: record.categories,
      services: servicesOf(record),
      language: record.language,
      document_version_id: record.document_version_id,
      channel: record.channel,
      valid_until: record.valid_until,
      ...lateMembersOf(record),
      proof_hash: proofHash,
      revision,
    },
    place: revision,
    recordId: id,
  };
}

/** An objection is no consent, so that its end must not look like a withdrawal. */
function typeOf({ consent_type: type, decision }: Act): WebhookMessage['type'] {
  if (type === OBJECTION_TYPE) return decision === 'withdrawn' ? 'objection.ended' : 'objection.recorded';
  return decision === 'withdrawn' ? 'consent.withdrawn' : 'consent.recorded';
}

/** The message that a time stamp covers further records. */
export function stampedMessage({ siteId, checkpointSize, stampedAt, revision }: StampedRecords): WebhookMessage {
  return {
    id: `msg_${siteId}_${checkpointSize}`,
    type: 'evidence.stamped',
    timestamp: stampedAt.toISOString(),
    data: { site_id: siteId, checkpoint_size: checkpointSize, stamped_up_to_revision: revision },
    place: checkpointSize,
    recordId: null,
  };
}

/** An idempotency key that was reused with a different body, which was not recorded. */
export interface NotedConflict {
  readonly number: number;
  readonly siteId: string;
  readonly apiKeyId: string;
  /** The record that was kept. */
  readonly eventId: string;
  readonly firstAt: Date;
}

/** Returns the message that an idempotency key was reused with a different body: one per key and API key. */
export function conflictMessage({ number, siteId, apiKeyId, eventId, firstAt }: NotedConflict): WebhookMessage {
  return {
    id: `msg_${eventId}_${apiKeyId}`,
    type: 'idempotency.conflict',
    timestamp: firstAt.toISOString(),
    data: { site_id: siteId, event_id: eventId, consent_token: consentToken(eventId), api_key_id: apiKeyId },
    place: number,
    recordId: eventId,
  };
}

/** Returns the message with which a person tests a receiver. @param at time of the request for it */
export function testMessage(id: string, webhookId: string, siteId: string, at: Date): WebhookMessage {
  return {
    id,
    type: 'webhook.test',
    timestamp: at.toISOString(),
    data: { site_id: siteId, webhook_id: webhookId },
    place: 0,
    recordId: null,
  };
}

/** Returns the body of a message: the exact text that is signed and sent. */
export function bodyOf({ type, timestamp, data }: WebhookMessage): string {
  return JSON.stringify({ type, timestamp, data });
}

/**
 * The headers that authenticate a message (Standard Webhooks: `v1`, HMAC-SHA-256).
 * @param keys the keys of the webhook, newest first. Each key signs, so a receiver may use any of them
 * @param now time of the attempt, in milliseconds since 1970
 */
export function signedHeaders(
  id: string,
  body: string,
  keys: readonly Uint8Array[],
  now: number,
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const signatures = keys.map((key) => {
    const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`);
    return `v1,${mac.digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}
