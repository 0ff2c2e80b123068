import { z } from 'zod';
import { InvalidEventBody } from '../../../schemas/events/sealed-event.js';
import { consentsStream } from '../../../schemas/events/streams.js';
import type { BackgroundPart, ServiceLogger } from '../../platform/background/part.js';
import { repeat } from '../../platform/background/repeat.js';
import { describe } from '../../platform/background/run-under-lease.js';
import { pause } from '../../platform/background/waiting.js';
import { lastSealed } from '../../platform/database/last-sealed.js';
import type { Queryable } from '../../platform/database/pool.js';
import { KeyError, type Keyring } from '../../platform/keys/index.js';
import { openWebhookSecret } from '../../tenancy/webhooks/webhook-secret.js';
import { LogDamaged } from '../event-log/errors.js';
import type { EventLog } from '../event-log/port.js';
import {
  type ClaimedWebhook,
  claimWebhook,
  noteDelivered,
  noteFailure,
  notePassed,
  type Reached,
  releaseWebhook,
  WebhookColumns,
} from './claim-webhook.js';
import type { Delivery, SendWebhook } from './http-sender.js';
import { Lanes } from './lanes.js';
import { Places } from './places.js';
import {
  bodyOf,
  conflictMessage,
  messageOf,
  signedHeaders,
  stampedMessage,
  type WebhookMessage,
} from './webhook-message.js';

/** Events that are read at a time. */
const PAGE = 50;
/** A webhook with more to deliver waits for the others after this time, in milliseconds. */
const TURN_MS = 5_000;
/** Webhooks that are delivered at the same time, each in order. Nearly all of them wait for their receivers. */
const LANES = 32;
const SLOW_LANES = 16;
/** Lanes that read, sign and store at the same time: the database has other work. */
const WORKING = 4;

export interface WebhooksOptions {
  /** In the role `consent_ledger_worker`. */
  readonly db: Queryable;
  readonly eventLog: EventLog;
  readonly keyring: Pick<Keyring, 'siteKey' | 'open'>;
  readonly send: SendWebhook;
  readonly logger: ServiceLogger;
  /** Interval of the look-up for new events, in milliseconds. */
  readonly pollMs?: number;
}

/** One message, and how far the webhook has come once it is delivered. */
interface Step {
  readonly message: WebhookMessage | null;
  readonly reached: Reached;
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

/**
 * Sends events to the webhooks of sites: each at least once, and to one webhook in the order of
 * the log. Only relayed events are sent, so that no event is announced that the ledger may not
 * have.
 * Several workers may run it: each delivery has one claim.
 */
export function createWebhooks(options: WebhooksOptions): BackgroundPart {
  const { db, logger, pollMs = 1_000 } = options;
  const counts = { delivered: 0, failed: 0, disabled: 0 };
  const lanes = new Lanes({ lanes: LANES, slowLanes: SLOW_LANES });
  const places = new Places(WORKING);

  const fail = async (webhook: ClaimedWebhook, reason: string, isGone: boolean): Promise<void> => {
    counts.failed += 1;
    const isDisabled = await noteFailure(db, webhook.id, reason, isGone);
    if (isDisabled) counts.disabled += 1;
    logger.warn(
      { part: 'webhooks', webhook: webhook.id, site: webhook.siteId, reason, disabled: isDisabled },
      'a webhook could not be delivered',
    );
  };

  /** Sends a message; the place of the lane is free for others meanwhile. */
  const send = async (
    webhook: ClaimedWebhook,
    { url, keys }: Target,
    message: WebhookMessage,
    signal: AbortSignal,
  ): Promise<Delivery> => {
    const body = bodyOf(message);
    const headers = signedHeaders(message.id, body, keys, Date.now());
    const since = performance.now();
    places.leave();
    const outcome = await options.send(url, headers, body, signal);
    lanes.note(webhook.id, outcome.isDelivered ? performance.now() - since : null);
    await places.enter();
    return outcome;
  };

  /** @returns whether the message arrived. A failure is stored, unless the process stops */
  const deliver = async (
    webhook: ClaimedWebhook,
    target: Target,
    message: WebhookMessage,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const outcome = await send(webhook, target, message, signal);
    if (outcome.isDelivered) counts.delivered += 1;
    else if (signal.aborted) await releaseWebhook(db, webhook.id);
    else await fail(webhook, outcome.reason, outcome.isGone);
    return outcome.isDelivered;
  };

  /** Delivers what one webhook has to get. */
  const deliverAll = async (webhook: ClaimedWebhook, signal: AbortSignal): Promise<void> => {
    const target = await targetOf(options, webhook);
    // An altered row could send events to another address.
    if (target === null) return fail(webhook, 'its row was altered in the database', false);
    const end = Date.now() + TURN_MS;
    const { revision, checkpointSize, conflict } = webhook;
    let at: Reached = { revision, checkpointSize, conflict };
    for await (const { message, reached } of stepsOf(options, webhook)) {
      if (signal.aborted) break;
      const isWanted = message !== null && target.events.includes(message.type);
      if (isWanted && !(await deliver(webhook, target, message, signal))) return;
      const isOn = isWanted
        ? await noteDelivered(db, webhook, at, reached)
        : await notePassed(db, webhook.id, at, reached);
      if (!isOn || Date.now() > end) break;
      at = reached;
    }
    await releaseWebhook(db, webhook.id);
  };

  const inPlace = async (webhook: ClaimedWebhook, signal: AbortSignal): Promise<void> => {
    await places.enter();
    try {
      await deliverAll(webhook, signal);
    } catch (error) {
      // The claim ends by itself, and another try follows.
      logger.warn({ part: 'webhooks', webhook: webhook.id, reason: describe(error) }, 'failed; trying again');
      // Its user must see why nothing arrives, and its claims must not keep the tenant's other webhooks waiting.
      if (isLasting(error)) await fail(webhook, 'its events cannot be read', false).catch(() => undefined);
    } finally {
      places.leave();
    }
  };

  /** Gives one webhook that has something to deliver a lane. Without one, waits for the next poll or a free lane. */
  const startNext = async (signal: AbortSignal): Promise<number> => {
    const webhook = lanes.areFull ? null : await claimWebhook(db, lanes.refused);
    if (webhook !== null) {
      lanes.run(webhook.id, () => inPlace(webhook, signal));
      return 0;
    }
    const ended = new AbortController();
    void lanes.anyEnd().then(() => ended.abort());
    await pause(pollMs, signal, ended.signal);
    return 0;
  };

  return {
    name: 'webhooks',
    status: () => ({ ...counts }),
    run: async (signal) => {
      await repeat('webhooks', logger, signal, () => startNext(signal));
      await lanes.allEnd();
    },
  };
}

/** Whether another try fails as well until an operator acts: an event, the log or a key was altered. */
function isLasting(error: unknown): boolean {
  return error instanceof InvalidEventBody || error instanceof LogDamaged || error instanceof KeyError;
}

interface Target extends Pick<WebhookColumns, 'url' | 'events'> {
  /** The keys of the signatures, the newest first. */
  readonly keys: readonly Uint8Array[];
}

/** The target of a webhook; null: the row is not the one that the service wrote. */
async function targetOf({ keyring }: WebhooksOptions, { id, row }: ClaimedWebhook): Promise<Target | null> {
  const webhook = await keyring.open(row, WebhookColumns);
  if (webhook === null) return null;
  const { url, events, site_id: siteId, secret, previous_secret: previous, previous_secret_until: until } = webhook;
  const keys: Uint8Array[] = [];
  for (const sealed of previous !== null && until !== null && until.getTime() > Date.now()
    ? [secret, previous]
    : [secret]) {
    const key = await openWebhookSecret(keyring, siteId, id, sealed);
    if (key === null) return null;
    keys.push(key);
  }
  return { url, events, keys };
}

/** Yields the steps of one webhook in this run: one page of events, the newest time stamp, then conflicts. */
async function* stepsOf({ db, eventLog }: WebhooksOptions, webhook: ClaimedWebhook): AsyncGenerator<Step> {
  const stream = consentsStream(webhook.siteId);
  let { revision, checkpointSize, conflict } = webhook;
  for (const event of await eventLog.readStream(stream, revision + 1, PAGE)) {
    ({ revision } = event);
    yield { message: messageOf(event), reached: { revision, checkpointSize, conflict } };
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
    };
  }
  for (const { number, ...noted } of await conflictsAfter(db, webhook)) {
    conflict = number;
    yield { message: conflictMessage(noted), reached: { revision, checkpointSize, conflict } };
  }
}

/** Conflicts of idempotency keys that a webhook has not been told of, in their order. */
async function conflictsAfter(
  db: Queryable,
  { siteId, conflict }: ClaimedWebhook,
): Promise<z.output<typeof ConflictRows>> {
  const { rows } = await db.query(
    `select number, site_id, api_key_id, event_id, first_at from idempotency_conflicts
      where site_id = $1 and number > $2 order by number limit ${PAGE}`,
    [siteId, conflict],
  );
  return ConflictRows.parse(rows);
}

/** The newest time stamp above a checkpoint, with the last revision of a stream that each covers. */
async function newestStamp(
  db: Queryable,
  stream: string,
  above: number,
): Promise<z.infer<typeof StampedRows>[number] | null> {
  const { rows } = await db.query(
    `select c.size, c.gen_time,
            (${lastSealed('$1', 'c.size')}) as revision,
            (${lastSealed('$1', '$2')}) as before
       from checkpoints c where c.size > $2 order by c.size desc limit 1`,
    [stream, above],
  );
  return StampedRows.parse(rows)[0] ?? null;
}
