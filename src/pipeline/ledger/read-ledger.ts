import * as z from 'zod';
import type { LedgerKey } from '../../../schemas/api/checkpoints.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
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
import { InvalidEventBody, parseBody, sealedContent } from '../../../schemas/events/sealed-event.js';
import { LEDGER_STREAM, POLICY_STREAM } from '../../../schemas/events/streams.js';
import { BatchHeader } from '../../../schemas/evidence/batch-header.js';
import { entryText } from '../../../schemas/evidence/entry.js';
import { inclusionRanges } from '../../../schemas/merkle/proofs.js';
import type { Queryable } from '../../platform/database/pool.js';
import { LogBehind } from '../event-log/errors.js';
import type { EventLog, StreamEvent } from '../event-log/port.js';
import { readBatchPath, readTreeProof } from './batch-nodes.js';

const PAGE = 50;

/** Reads the events of the ledger backwards, without those that were skipped. @param from first revision that is read */
async function* backwards(eventLog: EventLog, from: number): AsyncGenerator<StreamEvent, void> {
  const skipped = new Set<number>();
  // The event that skips another one comes later, perhaps after `from`.
  for (let end = await eventLog.lastRevision(LEDGER_STREAM); end >= 0; end -= PAGE) {
    const start = Math.max(0, end - PAGE + 1);
    const page: StreamEvent[] = [];
    // A page can end early because of its size.
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

/** Returns the body of a `LedgerEventSkipped`, or null for every other event. */
export function skipOf({ type, data }: StreamEvent): LedgerEventSkippedBody | null {
  if (type !== LEDGER_EVENT_SKIPPED) return null;
  try {
    return parseBody(LedgerEventSkippedBody, type, data);
  } catch (error) {
    // The skipping event is itself invalid.
    if (error instanceof InvalidEventBody) return null;
    throw error;
  }
}

/**
 * Reads the secret of the ledger's salts from the event that published its first key.
 * @throws LogBehind if the stream has no such event
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
 * @returns the event that completed it, and the batches from the last one that it covers up to that event, in order, or
 * null if there is no such checkpoint up to `from`
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

const KeyRows = z.array(z.object({ key: z.string(), ml_dsa_key: z.string() }));

/** Reads every pair of keys that has been the sole signer of checkpoints, oldest first. The last one is in force. */
export async function readLedgerKeys(db: Queryable): Promise<readonly Pick<LedgerKey, 'key' | 'ml_dsa_key'>[]> {
  const { rows } = await db.query('select key, ml_dsa_key from ledger_keys order by handover_size nulls first');
  return KeyRows.parse(rows);
}

const Bytes = z.instanceof(Uint8Array);
const PublishedRows = z.array(
  z.object({
    key: z.string(),
    ml_dsa_key: z.string(),
    replaces: z.string().nullable(),
    published_at: z.date(),
    handover: z
      .object({ size: z.int(), note: z.string(), batch: z.int(), header: z.string(), index: z.int() })
      .nullable(),
    revision: z.int().nullable(),
    event_id: z.string().nullable(),
    type: z.string().nullable(),
    body: Bytes.nullable(),
    previous: Bytes.nullable(),
  }),
);

/** Reads the same keys as `readLedgerKeys`, each with the proof that the previous keys announced it. */
export async function readPublishedKeys(db: Queryable): Promise<readonly LedgerKey[]> {
  const { rows } = await db.query(
    `select k.key, k.ml_dsa_key, k.replaces, k.published_at, p.revision, p.event_id, p.type, p.body, before.hash as previous,
            case when k.handover_size is not null then jsonb_build_object(
              'size', c.size, 'note', c.note, 'batch', l.batch, 'header', b.header, 'index', l.index) end as handover
       from ledger_keys k
       left join ledger_policies p on p.revision = k.announced_in
       left join checkpoints c on c.size = k.handover_size
       left join leaves l on l.stream = $1 and l.revision = k.announced_in
       left join batches b on b.number = l.batch
       left join leaves before on before.stream = $1 and before.revision = k.announced_in - 1
      order by k.handover_size nulls first`,
    [POLICY_STREAM],
  );
  const keys: LedgerKey[] = [];
  for (const row of PublishedRows.parse(rows)) {
    const { key, ml_dsa_key, replaces, published_at: publishedAt } = row;
    const announcement = await announcementOf(db, row);
    keys.push({ key, ml_dsa_key, replaces, announcement, published_at: publishedAt.toISOString() });
  }
  return keys;
}

/** @throws Error if a row that the tables must have is missing */
async function announcementOf(
  db: Queryable,
  row: z.infer<typeof PublishedRows>[number],
): Promise<LedgerKey['announcement']> {
  const { handover, revision, event_id: eventId, type, body, previous } = row;
  if (handover === null) return null;
  if (revision === null || eventId === null || type === null || body === null)
    throw new Error('the announcement of a key of the ledger is missing');
  const { size, note, batch, header, index } = handover;
  const { count } = BatchHeader.parse(JSON.parse(header));
  const path = await readTreeProof(db, inclusionRanges(batch, size));
  const entryPath = await readBatchPath(db, batch, index, count);
  if (path === null || entryPath === null) throw new Error('a node of the ledger tree is missing');
  const { recordText, proofHash } = sealedContent({ type, data: body });
  const entry = entryText({
    stream: POLICY_STREAM,
    revision,
    eventId,
    type,
    recordText,
    proofHash,
    personTag: null,
    previous: previous && toHex(previous),
  });
  return { note, header, path: path.map(toHex), entry, index, entry_path: entryPath.map(toHex) };
}
