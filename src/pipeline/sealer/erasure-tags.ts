import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { parseRecord, sealedContent } from '../../../schemas/events/sealed-event.js';
import { SUBJECT_ERASED } from '../../../schemas/events/subject-erased.js';
import { erasureTag, PERSON_TAG_BYTES } from '../../../schemas/evidence/person-tag.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { LoggedEvent } from '../event-log/port.js';
import type { SealedLeaf } from '../ledger/sealed-leaf.js';

const Bytes = z.instanceof(Uint8Array);
const leafRows = z.array(z.object({ event_id: z.string(), stream: z.string(), person_tag: Bytes }));
const tagRows = z.array(z.object({ person_tag: Bytes }));

/** An erasure that is sealed next. */
interface NewErasure {
  readonly eventId: string;
  readonly stream: string;
  readonly erasedId: string;
}

/**
 * Adds the tags of erasures to those of consents. An erasure has the erasure tag of its record. If
 * no earlier event of its stream is that record, or the record has an erasure already, its tag is
 * random, so that no tag occurs twice.
 * @param events in the order in which they are sealed
 * @param consentTags tags of the consents among them, by event id
 * @param pending leaves of the pending batch, before these events
 * @returns tags by event id, 32 bytes each
 * @throws InvalidEventBody if an erasure cannot be read
 */
export async function withErasureTags(
  db: Queryable,
  events: readonly LoggedEvent[],
  consentTags: ReadonlyMap<string, Uint8Array>,
  pending: readonly SealedLeaf[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const erasures = events.flatMap((event): NewErasure[] => {
    if (event.type !== SUBJECT_ERASED) return [];
    const { erased_event_id: erasedId } = parseRecord(event.type, sealedContent(event).recordText);
    return [{ eventId: event.id, stream: event.stream, erasedId }];
  });
  if (erasures.length === 0) return consentTags;
  const tagOf = await recordTags(db, erasures, pending);
  for (const { id, stream } of events) {
    const tag = consentTags.get(id);
    if (tag !== undefined) tagOf.set(keyOf(stream, id), tag);
  }
  const wanted = erasures.flatMap(({ stream, erasedId }) => {
    const tag = tagOf.get(keyOf(stream, erasedId));
    return tag === undefined ? [] : [erasureTag(tag)];
  });
  const used = await usedTags(db, wanted);
  for (const { tag } of pending) if (tag !== null) used.add(toHex(tag));
  const tags = new Map(consentTags);
  for (const { eventId, stream, erasedId } of erasures) {
    const recordTag = tagOf.get(keyOf(stream, erasedId));
    const tag = recordTag === undefined ? null : erasureTag(recordTag);
    const isFirst = tag !== null && !used.has(toHex(tag));
    if (isFirst) used.add(toHex(tag));
    tags.set(eventId, isFirst ? tag : randomBytes(PERSON_TAG_BYTES));
  }
  return tags;
}

function keyOf(stream: string, eventId: string): string {
  return `${stream} ${eventId}`;
}

/** The tags of the records that are sealed already, or in the pending batch. */
async function recordTags(
  db: Queryable,
  erasures: readonly NewErasure[],
  pending: readonly SealedLeaf[],
): Promise<Map<string, Uint8Array>> {
  const { rows } = await db.query(
    'select event_id, stream, person_tag from leaves where event_id = any($1::uuid[]) and person_tag is not null',
    [erasures.map(({ erasedId }) => erasedId)],
  );
  const tags = new Map<string, Uint8Array>();
  for (const row of leafRows.parse(rows)) tags.set(keyOf(row.stream, row.event_id), row.person_tag);
  for (const { stream, eventId, tag } of pending) if (tag !== null) tags.set(keyOf(stream, eventId), tag);
  return tags;
}

async function usedTags(db: Queryable, tags: readonly Uint8Array[]): Promise<Set<string>> {
  const { rows } = await db.query('select person_tag from leaves where person_tag = any($1::bytea[])', [tags]);
  return new Set(tagRows.parse(rows).map((row) => toHex(row.person_tag)));
}
