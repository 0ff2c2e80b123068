import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { equalBytes, toHex } from '../../../schemas/crypto/encoding.js';
import { parseRecord, sealedContent } from '../../../schemas/events/sealed-event.js';
import { SUBJECT_ERASED } from '../../../schemas/events/subject-erased.js';
import { erasureTag, PERSON_TAG_BYTES } from '../../../schemas/evidence/person-tag.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { EventLog, LoggedEvent } from '../event-log/port.js';
import { TablesDiffer } from '../ledger/errors.js';
import { type LedgerTree, leafOf, type SealedLeaf } from '../ledger/ledger-state.js';
import { assertLeafSealed } from '../ledger/sealed-heads.js';

const Bytes = z.instanceof(Uint8Array);
const LeafRows = z.array(
  z.object({
    event_id: z.string(),
    stream: z.string(),
    revision: z.int(),
    hash: Bytes,
    batch: z.int(),
    index: z.int(),
    person_tag: Bytes,
    header: z.string(),
    previous: Bytes.nullable(),
  }),
);

export interface ErasureTagOptions {
  readonly db: Queryable;
  readonly eventLog: EventLog;
  /** The ledger tree that the log gives, at the revision that the tables have. */
  readonly tree: LedgerTree;
}

/**
 * Adds the tags of erasures to those of consents. The tag is derived from the id of the erased event, or is random if
 * another erasure of this record already has that tag, so that no tag occurs twice.
 * @param events the events in the order in which they are sealed
 * @param consentTags tags of the consents among them, by event id
 * @param pending leaves of the pending batch, before these events
 * @returns tags by event id, 32 bytes each
 * @throws InvalidEventBody if an erasure cannot be read
 * @throws TablesDiffer if a stored leaf contradicts the log
 * @throws RevisionGap if the log has lost an erasure with the tag
 */
export async function withErasureTags(
  options: ErasureTagOptions,
  events: readonly LoggedEvent[],
  consentTags: ReadonlyMap<string, Uint8Array>,
  pending: readonly SealedLeaf[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const erasures = events.flatMap((event) => {
    if (event.type !== SUBJECT_ERASED) return [];
    const { erased_event_id: erasedId } = parseRecord(event.type, sealedContent(event).recordText);
    return [{ eventId: event.id, tag: erasureTag(erasedId) }];
  });
  if (erasures.length === 0) return consentTags;
  const used = await usedTags(
    options,
    erasures.map(({ tag }) => tag),
  );
  for (const { tag } of pending) if (tag !== null) used.add(toHex(tag));
  const tags = new Map(consentTags);
  for (const { eventId, tag } of erasures) {
    const isFirst = !used.has(toHex(tag));
    used.add(toHex(tag));
    tags.set(eventId, isFirst ? tag : randomBytes(PERSON_TAG_BYTES));
  }
  return tags;
}

/**
 * Returns the tags that are already sealed. A stored leaf counts only if the log and the ledger tree confirm it,
 * because a tag is sealed forever. A leaf that is missing from the table is not found. That is acceptable, because the
 * service announces an erasure once: a tag could only occur twice if the row were wrong at the moment when a second
 * announcement is sealed.
 */
async function usedTags({ db, eventLog, tree }: ErasureTagOptions, tags: readonly Uint8Array[]): Promise<Set<string>> {
  const { rows } = await db.query(
    `select l.event_id, l.stream, l.revision, l.hash, l.batch, l.index, l.person_tag, b.header, p.hash as previous
       from leaves l join batches b on b.number = l.batch
       left join leaves p on p.stream = l.stream and p.revision = l.revision - 1
      where l.person_tag = any($1::bytea[])`,
    [tags],
  );
  const sound = new Set<string>();
  const used = new Set<string>();
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
    used.add(toHex(tag));
  }
  return used;
}
