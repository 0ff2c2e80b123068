import { InvalidEventBody } from '../../../schemas/events/sealed-event.js';
import { type BackgroundPart, describe, repeat, type ServiceLogger } from '../../platform/background/part.js';
import { LONGEST_WAIT_MS, type Looks } from '../../platform/background/waiting.js';
import type { Queryable } from '../../platform/database/pool.js';
import { KeyError, type Keyring } from '../../platform/keys/index.js';
import { pruneWebhook } from '../../tenancy/webhooks/deliveries.js';
import { openWebhookSecret } from '../../tenancy/webhooks/webhooks.js';
import { LogDamaged } from '../event-log/errors.js';
import type { EventLog } from '../event-log/port.js';
import {
  type ClaimedWebhook,
  claimWebhook,
  type Failure,
  giveUp,
  noteDelivered,
  noteFailure,
  notePassed,
  noteRefused,
  type Reached,
  releaseWebhook,
  WEBHOOK_WAITS,
  WebhookColumns,
} from './claim-webhook.js';
import type { Delivery, SendWebhook } from './http-sender.js';
import { type Step, stepsOf } from './steps.js';
import { bodyOf, signedHeaders, type WebhookMessage } from './webhook-message.js';

/** Time, in milliseconds, after which a webhook with more to deliver lets others go first. */
const TURN_MS = 5_000;
/**
 * Number of webhooks that are delivered at the same time, each in order. Nearly all of them wait for their receivers.
 */
const LANES = 32;
const SLOW_LANES = 16;
/** Number of lanes that may read, sign and store at the same time, because the database has other work. */
const WORKING = 4;

export interface WebhooksOptions {
  /** A handle in the role `consent_ledger_worker`. */
  readonly db: Queryable;
  readonly eventLog: EventLog;
  readonly keyring: Pick<Keyring, 'siteKey' | 'open'>;
  readonly send: SendWebhook;
  readonly logger: ServiceLogger;
  readonly looks: Looks;
}

/**
 * Sends events to the webhooks of sites: each at least once, and to one webhook in the order of the log. Only relayed
 * events are sent, so no event is announced that might never enter the ledger. Several workers may run it: each
 * delivery has one claim.
 */
export function createWebhooks(options: WebhooksOptions): BackgroundPart {
  const { db, logger } = options;
  const look = options.looks.add(WEBHOOK_WAITS);
  const counts = { delivered: 0, failed: 0, disabled: 0 };
  const lanes = new Lanes({ lanes: LANES, slowLanes: SLOW_LANES });
  const permits = new Semaphore(WORKING);

  /** @param failure what differs from an attempt without a message */
  const fail = async (webhook: ClaimedWebhook, reason: string, failure?: Partial<Failure>): Promise<void> => {
    counts.failed += 1;
    const none = { isGone: false, message: null };
    const isDisabled = await noteFailure(db, { webhookId: webhook.id, reason, ...none, ...failure });
    if (isDisabled) counts.disabled += 1;
    logger.warn(
      { part: 'webhooks', webhook: webhook.id, site: webhook.siteId, reason, disabled: isDisabled },
      'a webhook could not be delivered',
    );
  };

  /** Sends a message. Meanwhile other lanes may read, sign and store. */
  const send = async (
    webhook: ClaimedWebhook,
    { url, keys }: Target,
    message: WebhookMessage,
    signal: AbortSignal,
  ): Promise<Delivery> => {
    const body = bodyOf(message);
    const headers = signedHeaders(message.id, body, keys, Date.now());
    const since = performance.now();
    permits.leave();
    const outcome = await options.send(url, headers, body, signal);
    lanes.note(webhook.id, outcome.isDelivered ? performance.now() - since : null);
    await permits.enter();
    return outcome;
  };

  /** Stores that a message did not arrive. @returns false if this run must end */
  const miss = async (
    webhook: ClaimedWebhook,
    { reason, isGone }: Extract<Delivery, { isDelivered: false }>,
    { message, isQueued }: { readonly message: WebhookMessage; readonly isQueued: boolean },
    signal: AbortSignal,
  ): Promise<boolean> => {
    if (signal.aborted) await releaseWebhook(db, webhook.id);
    else if (!isQueued || isGone) await fail(webhook, reason, { isGone, message });
    else {
      counts.failed += 1;
      const isOn = await noteRefused(db, webhook, message, reason);
      if (!isOn) await releaseWebhook(db, webhook.id);
      return isOn;
    }
    return false;
  };

  /** Sends the message of a step if the webhook subscribes to it. @returns false if this run must end */
  const take = async (
    webhook: ClaimedWebhook,
    target: Target,
    { message, reached, queued }: Step,
    { at, signal }: { readonly at: Reached; readonly signal: AbortSignal },
  ): Promise<boolean> => {
    if (queued?.problem !== undefined) await giveUp(db, queued.id, queued.problem);
    const isQueued = queued !== null;
    let isOn = true;
    if (message !== null && (isQueued || target.events.some((event) => event === message.type))) {
      const outcome = await send(webhook, target, message, signal);
      if (!outcome.isDelivered) return miss(webhook, outcome, { message, isQueued }, signal);
      counts.delivered += 1;
      isOn = await noteDelivered(db, webhook, message, at, reached);
    } else if (!isQueued) isOn = await notePassed(db, webhook.id, at, reached);
    if (!isOn) await releaseWebhook(db, webhook.id);
    return isOn;
  };

  /** Delivers everything that is due for one webhook. */
  const deliverAll = async (webhook: ClaimedWebhook, signal: AbortSignal): Promise<void> => {
    const target = await targetOf(options, webhook);
    // An altered row could send events to another address.
    if (target === null) return fail(webhook, 'its row was altered in the database');
    await pruneWebhook(db, webhook.id);
    let end = Date.now() + TURN_MS;
    const { revision, checkpointSize, conflict } = webhook;
    let at: Reached = { revision, checkpointSize, conflict };
    for await (const step of stepsOf(options, webhook)) {
      if (signal.aborted) break;
      if (!(await take(webhook, target, step, { at, signal }))) return;
      // However many messages are requested, each run also leaves time for events.
      if (step.queued !== null) end = Date.now() + TURN_MS;
      else if (Date.now() > end) break;
      at = step.reached;
    }
    await releaseWebhook(db, webhook.id);
  };

  const inPlace = async (webhook: ClaimedWebhook, signal: AbortSignal): Promise<void> => {
    await permits.enter();
    try {
      await deliverAll(webhook, signal);
    } catch (error) {
      // The claim expires, and another attempt follows.
      logger.warn({ part: 'webhooks', webhook: webhook.id, reason: describe(error) }, 'failed; trying again');
      // The user must see why nothing arrives, and its claims must not hold up the tenant's other webhooks.
      if (isLasting(error)) await fail(webhook, 'its events cannot be read').catch(() => undefined);
    } finally {
      permits.leave();
    }
  };

  /**
   * Assigns a lane to a webhook that has something to deliver. If there is none, waits for a webhook or a free lane.
   */
  const startNext = async (signal: AbortSignal): Promise<number> => {
    const webhook = lanes.areFull ? null : await claimWebhook(db, lanes.refused);
    if (webhook !== null) {
      lanes.run(webhook.id, () => inPlace(webhook, signal));
      return 0;
    }
    const ended = new AbortController();
    void lanes.anyEnd().then(() => ended.abort());
    await look.wait(LONGEST_WAIT_MS, signal, ended.signal);
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

/**
 * Returns whether every further attempt will fail until an operator acts, because an event, the log or a key was
 * altered.
 */
function isLasting(error: unknown): boolean {
  return error instanceof InvalidEventBody || error instanceof LogDamaged || error instanceof KeyError;
}

interface Target extends Pick<WebhookColumns, 'url' | 'events'> {
  /** The keys of the signatures, the newest first. */
  readonly keys: readonly Uint8Array[];
}

/** Returns the target of a webhook, or null if its row was altered. */
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

/** A receiver counts as slow if its last response took longer than this, in milliseconds, or did not come. */
const SLOW_MS = 1_000;

export interface LanesOptions {
  /** Number of webhooks that are delivered at the same time. */
  readonly lanes: number;
  /** Number of lanes that slow receivers may take together. The others are free for receivers that respond fast. */
  readonly slowLanes: number;
}

/**
 * The lanes, one for each webhook that is being delivered. A slow receiver occupies only its own lane. The speed of
 * receivers is kept in memory only, and an unknown receiver counts as fast.
 */
export class Lanes {
  readonly #running = new Map<string, Promise<void>>();
  readonly #slow = new Set<string>();

  constructor(private readonly options: LanesOptions) {}

  get areFull(): boolean {
    return this.#running.size >= this.options.lanes;
  }

  /** Ids of the webhooks for which no lane is free. */
  get refused(): readonly string[] {
    const slow = [...this.#running.keys()].filter((id) => this.#slow.has(id));
    return slow.length >= this.options.slowLanes ? [...this.#slow] : [];
  }

  /** Runs the work of a webhook in its lane. @param work never rejects */
  run(id: string, work: () => Promise<void>): void {
    const lane = work().finally(() => this.#running.delete(id));
    this.#running.set(id, lane);
  }

  /** Notes how long a receiver took to answer, in milliseconds, or null if it did not accept. */
  note(id: string, ms: number | null): void {
    if (ms === null || ms > SLOW_MS) this.#slow.add(id);
    else this.#slow.delete(id);
  }

  /** Resolves when a lane ends. Never resolves if there is none. */
  async anyEnd(): Promise<void> {
    await Promise.race(this.#running.values());
  }

  /** Resolves when every lane has ended. */
  async allEnd(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}

/** A limited number of permits. Those who wait get them in order. */
export class Semaphore {
  readonly #waiting: (() => void)[] = [];

  constructor(private free: number) {}

  /** Waits for a permit and takes it. */
  async enter(): Promise<void> {
    if (this.free > 0) {
      this.free -= 1;
      return;
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Returns a permit, which passes to the next one waiting. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.free += 1;
    else next();
  }
}
