import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { equalBytes, toHex } from '../../../schemas/crypto/encoding.js';
import { parseRecord, sealedContent } from '../../../schemas/events/sealed-event.js';
import { SUBJECT_ERASED } from '../../../schemas/events/subject-erased.js';
import { erasureTag, PERSON_TAG_BYTES } from '../../../schemas/evidence/person-tag.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { EventLog, LoggedEvent } from '../event-log/port.js';
import { TablesDiffer } from '../ledger/errors.js';
import type { LedgerTree } from '../ledger/followed-ledger.js';
import { assertLeafSealed } from '../ledger/sealed-heads.js';
import { leafOf, type SealedLeaf } from '../ledger/sealed-leaf.js';

const Bytes = z.instanceof(Uint8Array);
const LeafRows = z.array(
  z.object({
    event_id: z.string(),
    stream: z.string(),
    revision: z.int(),
    hash: Bytes,
    batch: z.int(),
    index: z.int(),
    person_tag: Bytes.nullable(),
    header: z.string(),
    previous: Bytes.nullable(),
  }),
);

/** An erasure that is sealed next. */
interface NewErasure {
  readonly eventId: string;
  readonly stream: string;
  readonly revision: number;
  readonly erasedId: string;
}

export interface ErasureTagOptions {
  readonly db: Queryable;
  readonly eventLog: EventLog;
  /** The ledger tree that the log gives, at the revision that the tables have. */
  readonly tree: LedgerTree;
}

const PAGE = 500;

/**
 * Adds the tags of erasures to those of consents. An erasure has the erasure tag of its record. If
 * no earlier event of its stream is that record, or the record has an erasure already, its tag is
 * random, so that no tag occurs twice. A tag is sealed for ever: stored leaves count only if the log
 * and the ledger tree confirm them.
 * @param events in the order in which they are sealed
 * @param consentTags tags of the consents among them, by event id
 * @param pending leaves of the pending batch, before these events
 * @returns tags by event id, 32 bytes each
 * @throws InvalidEventBody if an erasure cannot be read
 * @throws TablesDiffer if a stored leaf contradicts the log, or is missing
 * @throws RevisionGap if the log has lost the record of an erasure
 */
export async function withErasureTags(
  options: ErasureTagOptions,
  events: readonly LoggedEvent[],
  consentTags: ReadonlyMap<string, Uint8Array>,
  pending: readonly SealedLeaf[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const erasures = events.flatMap((event): NewErasure[] => {
    if (event.type !== SUBJECT_ERASED) return [];
    const { erased_event_id: erasedId } = parseRecord(event.type, sealedContent(event).recordText);
    return [{ eventId: event.id, stream: event.stream, revision: event.revision, erasedId }];
  });
  if (erasures.length === 0) return consentTags;
  const tagOf = await recordTags(options, erasures);
  for (const { stream, eventId, tag } of pending) tagOf.set(keyOf(stream, eventId), tag);
  for (const { id, stream } of events) tagOf.set(keyOf(stream, id), consentTags.get(id) ?? null);
  for (const erasure of erasures)
    if (!tagOf.has(keyOf(erasure.stream, erasure.erasedId))) await assertNotInLog(options.eventLog, erasure);
  const wanted = erasures.flatMap(({ stream, erasedId }) => {
    const tag = tagOf.get(keyOf(stream, erasedId)) ?? null;
    return tag === null ? [] : [erasureTag(tag)];
  });
  const used = await usedTags(options, wanted);
  for (const { tag } of pending) if (tag !== null) used.add(toHex(tag));
  const tags = new Map(consentTags);
  for (const { eventId, stream, erasedId } of erasures) {
    const recordTag = tagOf.get(keyOf(stream, erasedId)) ?? null;
    const tag = recordTag === null ? null : erasureTag(recordTag);
    const isFirst = tag !== null && !used.has(toHex(tag));
    if (isFirst) used.add(toHex(tag));
    tags.set(eventId, isFirst ? tag : randomBytes(PERSON_TAG_BYTES));
  }
  return tags;
}

function keyOf(stream: string, eventId: string): string {
  return `${stream} ${eventId}`;
}

/** The tags of the records that are sealed already; null for events that have none. */
async function recordTags(
  options: ErasureTagOptions,
  erasures: readonly NewErasure[],
): Promise<Map<string, Uint8Array | null>> {
  const ids = erasures.map(({ erasedId }) => erasedId);
  const leaves = await sealedLeaves(options, 'l.event_id = any($1::uuid[])', ids);
  return new Map(leaves.map(({ stream, eventId, tag }) => [keyOf(stream, eventId), tag]));
}

/**
 * The tags that are sealed already. A leaf that is missing from the table is not found here: the search
 * for it in the log would read every event since the record. The service announces an erasure once, so
 * that a tag could occur twice only if the row is wrong while a second announcement is sealed.
 */
async function usedTags(options: ErasureTagOptions, tags: readonly Uint8Array[]): Promise<Set<string>> {
  const leaves = await sealedLeaves(options, 'l.person_tag = any($1::bytea[])', tags);
  return new Set(leaves.flatMap(({ tag }) => (tag === null ? [] : [toHex(tag)])));
}

/** Reads stored leaves, and checks them: a leaf hash commits to the tag. @throws TablesDiffer, RevisionGap */
async function sealedLeaves(
  { db, eventLog, tree }: ErasureTagOptions,
  condition: string,
  values: readonly unknown[],
): Promise<readonly SealedLeaf[]> {
  const { rows } = await db.query(
    `select l.event_id, l.stream, l.revision, l.hash, l.batch, l.index, l.person_tag, b.header, p.hash as previous
       from leaves l join batches b on b.number = l.batch
       left join leaves p on p.stream = l.stream and p.revision = l.revision - 1 where ${condition}`,
    [values],
  );
  const sound = new Set<string>();
  const leaves: SealedLeaf[] = [];
  for (const { event_id: eventId, person_tag: tag, previous, ...stored } of LeafRows.parse(rows)) {
    await assertLeafSealed(db, tree, stored, sound);
    const { stream, revision } = stored;
    const [event] = await eventLog.readStream(stream, revision, 1);
    const head = { revision: revision - 1, leaf: previous === null ? null : toHex(previous) };
    const leaf = event?.id === eventId ? leafOf(event, head, tag) : null;
    if (leaf === null || !equalBytes(leaf.hash, stored.hash))
      throw new TablesDiffer(
        'leaves',
        `${stream} ${revision}`,
        'the log has another event there, or another tag was sealed',
      );
    leaves.push(leaf);
  }
  return leaves;
}

/**
 * Checks that no leaf of an erased record is missing: its erasure would never be found. The service
 * announces no erasure of a record that the stream lacks, so that this reads the log only where
 * something is wrong.
 * @throws TablesDiffer, RevisionGap
 */
async function assertNotInLog(eventLog: EventLog, { stream, revision, erasedId }: NewErasure): Promise<void> {
  for (let next = 0; next < revision; ) {
    const page = await eventLog.readStream(stream, next, Math.min(PAGE, revision - next));
    if (page.length === 0) return;
    const record = page.find(({ id }) => id === erasedId);
    if (record !== undefined) throw new TablesDiffer('leaves', `${stream} ${record.revision}`, 'the row is missing');
    next += page.length;
  }
}
