import {
  BATCH_SEALED,
  BatchSealedBody,
  CHECKPOINT_STAMPED,
  CheckpointStampedBody,
  LEDGER_EVENT_SKIPPED,
  LEDGER_KEY_PUBLISHED,
  LedgerEventSkippedBody,
  LedgerKeyPublishedBody,
} from '../../../schemas/events/ledger.js';
import { InvalidEventBody, parseBody } from '../../../schemas/events/sealed-event.js';
import { LEDGER_STREAM } from '../../../schemas/events/streams.js';
import { LogBehind } from '../event-log/errors.js';
import type { EventLog, StreamEvent } from '../event-log/port.js';

const PAGE = 50;

/** Reads the events of the ledger backwards, without those that were skipped. @param from first revision that is read */
async function* backwards(eventLog: EventLog, from: number): AsyncGenerator<StreamEvent, void> {
  const skipped = new Set<number>();
  // Whether an event is skipped is said after it, perhaps after `from`.
  for (let end = await eventLog.lastRevision(LEDGER_STREAM); end >= 0; end -= PAGE) {
    const start = Math.max(0, end - PAGE + 1);
    const page: StreamEvent[] = [];
    // A page can end early, by its bytes.
    for (let next = start; next <= end; next = start + page.length) {
      const part = await eventLog.readStream(LEDGER_STREAM, next, end - next + 1);
      if (part.length === 0) break;
      page.push(...part);
    }
    for (const event of page.reverse()) {
      const skip = skipOf(event);
      if (skip !== null) skipped.add(skip.revision);
      else if (event.revision <= from && !skipped.has(event.revision)) yield event;
    }
  }
}

/** Returns the body of a `LedgerEventSkipped`; null for every other event. */
export function skipOf({ type, data }: StreamEvent): LedgerEventSkippedBody | null {
  if (type !== LEDGER_EVENT_SKIPPED) return null;
  try {
    return parseBody(LedgerEventSkippedBody, type, data);
  } catch (error) {
    // It cannot be applied itself.
    if (error instanceof InvalidEventBody) return null;
    throw error;
  }
}

/**
 * Reads the secret of the ledger's salts from the event that published its first key.
 * @throws LogBehind if the stream has none
 */
export async function readPublishedSaltKey(eventLog: EventLog): Promise<Uint8Array> {
  for (let next = 0; ; ) {
    const page = await eventLog.readStream(LEDGER_STREAM, next, PAGE);
    for (const event of page) {
      const saltKey = saltKeyOf(event);
      if (saltKey !== null) return saltKey;
    }
    if (page.length === 0) throw new LogBehind(LEDGER_STREAM, 0, -1);
    next += page.length;
  }
}

function saltKeyOf({ type, data }: StreamEvent): Uint8Array | null {
  if (type !== LEDGER_KEY_PUBLISHED) return null;
  try {
    return parseBody(LedgerKeyPublishedBody, type, data).salt_key;
  } catch (error) {
    // An event that cannot be applied was skipped.
    if (error instanceof InvalidEventBody) return null;
    throw error;
  }
}

/**
 * Finds the newest checkpoint that has all of its time stamps.
 * @param from last revision that is read
 * @returns the event that completed it, and the batches from the last that it covers to that event, in
 *   order; null: the ledger has no such checkpoint up to there
 */
export async function readNewestCheckpoint(
  eventLog: EventLog,
  from: number,
): Promise<{
  readonly revision: number;
  readonly stamp: CheckpointStampedBody;
  readonly batches: readonly BatchSealedBody[];
} | null> {
  let found: { revision: number; stamp: CheckpointStampedBody } | null = null;
  const batches: BatchSealedBody[] = [];
  for await (const { revision, type, data } of backwards(eventLog, from)) {
    if (type === CHECKPOINT_STAMPED && found === null) {
      const stamp = parseBody(CheckpointStampedBody, type, data);
      if (stamp.number >= stamp.quorum) found = { revision, stamp };
    }
    if (type !== BATCH_SEALED || found === null) continue;
    const body = parseBody(BatchSealedBody, type, data);
    batches.push(body);
    if (numberOf(type, body) < found.stamp.size) return { ...found, batches: batches.reverse() };
  }
  return null;
}

/**
 * Reads the newest batches backwards.
 * @param from last revision that is read
 * @param first number of the last batch that is wanted
 */
export async function* readBatchesBackwards(
  eventLog: EventLog,
  from: number,
  first: number,
): AsyncGenerator<BatchSealedBody, void> {
  for await (const { type, data } of backwards(eventLog, from)) {
    if (type !== BATCH_SEALED) continue;
    const body = parseBody(BatchSealedBody, type, data);
    const number = numberOf(type, body);
    if (number >= first) yield body;
    if (number <= first) return;
  }
}

function numberOf(type: string, { header }: BatchSealedBody): number {
  const parsed: unknown = JSON.parse(header);
  if (typeof parsed === 'object' && parsed !== null && 'number' in parsed && typeof parsed.number === 'number')
    return parsed.number;
  throw new InvalidEventBody(`${type}: the header has no number`);
}
