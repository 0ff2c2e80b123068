import * as z from 'zod';
import { WebhookDelivery } from '../../../schemas/api/panel/webhook-deliveries.js';
import { InvalidEventBody } from '../../../schemas/events/sealed-event.js';
import { consentsStream } from '../../../schemas/events/streams.js';
import type { Queryable } from '../../platform/database/pool.js';
import { lastSealed } from '../../platform/database/shared-statements.js';
import { LogDamaged } from '../event-log/errors.js';
import type { EventLog } from '../event-log/port.js';
import type { ClaimedWebhook, Reached } from './claim-webhook.js';
import { conflictMessage, messageOf, stampedMessage, testMessage, type WebhookMessage } from './webhook-message.js';

/** Number of events that are read at a time. */
const PAGE = 50;
/**
 * Maximum number of requested messages before the events of a run. A receiver that does not respond takes 10 seconds
 * for each.
 */
const MOST_QUEUED = 3;

export interface StepSources {
  /** A handle in the role `consent_ledger_worker`. */
  readonly db: Queryable;
  readonly eventLog: EventLog;
}

/** One message, and how far the webhook has come once it is delivered. */
export interface Step {
  /** Null if there is nothing to send. */
  readonly message: WebhookMessage | null;
  readonly reached: Reached;
  /**
   * The requested delivery, with the problem if its message cannot be created, or null if this step was not requested.
   */
  readonly queued: { readonly id: string; readonly problem: string | undefined } | null;
}

const ConflictRows = z.array(
  z
    .object({ number: z.int(), site_id: z.string(), api_key_id: z.string(), event_id: z.string(), first_at: z.date() })
    .transform(({ number, ...row }) => ({
      number,
      siteId: row.site_id,
      apiKeyId: row.api_key_id,
      eventId: row.event_id,
      firstAt: row.first_at,
    })),
);

const StampedRows = z
  .array(z.object({ size: z.int(), gen_time: z.date(), revision: z.int().nullable(), before: z.int().nullable() }))
  .max(1);

const QueuedRows = z.array(
  z
    .object({
      id: z.string(),
      message_id: z.string(),
      type: WebhookDelivery.shape.type,
      place: z.int(),
      created_at: z.date(),
      is_erased: z.boolean(),
    })
    .transform(({ message_id: messageId, created_at: createdAt, is_erased: isErased, ...row }) => ({
      ...row,
      messageId,
      createdAt,
      isErased,
    })),
);
type QueuedRow = z.output<typeof QueuedRows>[number];

/** Reads the requested deliveries, in order. */
async function queuedOf(db: Queryable, webhookId: string): Promise<readonly QueuedRow[]> {
  const { rows } = await db.query(
    `select d.id, d.message_id, d.type, d.place, d.created_at,
            exists (select from erased_records e where e.event_id = d.event_id) as is_erased
       from webhook_deliveries d where d.webhook_id = $1 and d.queued_at is not null order by d.queued_at, d.id limit ${MOST_QUEUED}`,
    [webhookId],
  );
  return QueuedRows.parse(rows);
}

/**
 * Creates the message of a delivery again from its source. Rows of deliveries have no row seal, but a row that names
 * another event leads to a message with another id.
 */
async function remade(
  sources: StepSources,
  webhook: ClaimedWebhook,
  row: QueuedRow,
): Promise<{ readonly message: WebhookMessage | null; readonly problem?: string }> {
  if (row.isErased) return { message: null, problem: 'its record was erased' };
  try {
    const message = await messageAt(sources, webhook, row);
    if (message?.id === row.messageId) return { message };
    return { message: null, problem: 'its event is no longer kept' };
  } catch (error) {
    // Later events must not wait for it.
    if (error instanceof InvalidEventBody || error instanceof LogDamaged)
      return { message: null, problem: 'its event cannot be read' };
    throw error;
  }
}

async function messageAt(
  { db, eventLog }: StepSources,
  { id, siteId }: ClaimedWebhook,
  { type, place, messageId, createdAt }: QueuedRow,
): Promise<WebhookMessage | null> {
  const stream = consentsStream(siteId);
  if (type === 'webhook.test') return testMessage(messageId, id, siteId, createdAt);
  if (type === 'idempotency.conflict') {
    const [noted] = await conflictsAfter(db, { siteId, conflict: place - 1 });
    return noted === undefined ? null : conflictMessage(noted);
  }
  if (type === 'evidence.stamped') {
    const stamped = await newestStamp(db, stream, 0, place);
    return stamped?.revision == null
      ? null
      : stampedMessage({ siteId, checkpointSize: place, stampedAt: stamped.gen_time, revision: stamped.revision });
  }
  const [event] = await eventLog.readStream(stream, place, 1);
  return event === undefined ? null : messageOf(event);
}

/**
 * Yields the steps of one webhook in this run: requested messages, one page of events, the newest time stamp, then
 * conflicts.
 */
export async function* stepsOf(sources: StepSources, webhook: ClaimedWebhook): AsyncGenerator<Step> {
  const { db, eventLog } = sources;
  const stream = consentsStream(webhook.siteId);
  let { revision, checkpointSize, conflict } = webhook;
  for (const row of await queuedOf(db, webhook.id)) {
    const { message, problem } = await remade(sources, webhook, row);
    yield { message, reached: { revision, checkpointSize, conflict }, queued: { id: row.id, problem } };
  }
  for (const event of await eventLog.readStream(stream, revision + 1, PAGE)) {
    ({ revision } = event);
    yield { message: messageOf(event), reached: { revision, checkpointSize, conflict }, queued: null };
  }
  const stamped = await newestStamp(db, stream, checkpointSize);
  if (stamped !== null) {
    const { size, gen_time: stampedAt, revision: covered, before } = stamped;
    checkpointSize = size;
    const isNew = covered !== null && covered > (before ?? -1);
    yield {
      message: isNew
        ? stampedMessage({ siteId: webhook.siteId, checkpointSize: size, stampedAt, revision: covered })
        : null,
      reached: { revision, checkpointSize, conflict },
      queued: null,
    };
  }
  for (const noted of await conflictsAfter(db, webhook)) {
    conflict = noted.number;
    yield { message: conflictMessage(noted), reached: { revision, checkpointSize, conflict }, queued: null };
  }
}

/** Reads the conflicts of idempotency keys that a webhook has not been told about, in order. */
async function conflictsAfter(
  db: Queryable,
  { siteId, conflict }: Pick<ClaimedWebhook, 'siteId' | 'conflict'>,
): Promise<z.output<typeof ConflictRows>> {
  const { rows } = await db.query(
    `select number, site_id, api_key_id, event_id, first_at from idempotency_conflicts
      where site_id = $1 and number > $2 order by number limit ${PAGE}`,
    [siteId, conflict],
  );
  return ConflictRows.parse(rows);
}

/**
 * Reads the newest time stamp above a checkpoint, with the last revision of a stream that each of the two covers.
 * @param size only the checkpoint of this size; null permits any
 */
async function newestStamp(
  db: Queryable,
  stream: string,
  above: number,
  size: number | null = null,
): Promise<z.infer<typeof StampedRows>[number] | null> {
  const { rows } = await db.query(
    `select c.size, c.gen_time,
            (${lastSealed('$1', 'c.size')}) as revision,
            (${lastSealed('$1', '$2')}) as before
       from checkpoints c where c.size > $2 and ($3::bigint is null or c.size = $3) order by c.size desc limit 1`,
    [stream, above, size],
  );
  return StampedRows.parse(rows)[0] ?? null;
}
