import * as z from 'zod';
import { BATCH_SEALED, BatchSealedBody } from '../../../schemas/events/ledger.js';
import { PublicEventBody } from '../../../schemas/events/notices.js';
import { InvalidEventBody, isConsentType, parseBody, parseRecord } from '../../../schemas/events/sealed-event.js';
import { consentsStream, LEDGER_STREAM, siteOfStream } from '../../../schemas/events/streams.js';
import { SUBJECT_ERASED } from '../../../schemas/events/subject-erased.js';
import type { Queryable } from '../../platform/database/pool.js';
import { recordsWithoutKey } from '../../platform/database/shared-statements.js';
import type { EventLog, StreamEvent } from '../event-log/port.js';

const PAGE = 200;

/** Records of a site whose personal values can no longer be read: their keys were in the database only. */
export interface LostKeys {
  readonly siteId: string;
  readonly records: number;
  /** False: the site itself was made after the backup, and is gone. Its events stay in the log. */
  readonly isSiteKnown: boolean;
}

/** Counts, among the events of a site that only the log has, the records without a key that are not erased. */
export class LostKeyCounter {
  readonly #lost = new Map<string, Set<string>>();

  /** @param journaled event ids of the records that the erasure journal lists as erased */
  constructor(
    readonly db: Queryable,
    readonly journaled: ReadonlySet<string>,
  ) {}

  /** Takes events of a stream in their order. */
  async take(siteId: string, events: readonly StreamEvent[]): Promise<void> {
    const lost = this.#lost.get(siteId) ?? new Set();
    const consents = events.filter(({ type }) => isConsentType(type)).map(({ id }) => id);
    for (const id of await recordsWithoutKey(this.db, consents)) if (!this.journaled.has(id)) lost.add(id);
    for (const event of events) {
      const erased = erasedBy(event);
      if (erased !== null) lost.delete(erased);
    }
    this.#lost.set(siteId, lost);
  }

  /** The sites with lost keys, in the order in which they were taken. */
  found(): readonly LostKeys[] {
    return [...this.#lost].flatMap(([siteId, { size: records }]) =>
      records === 0 ? [] : [{ siteId, records, isSiteKnown: true }],
    );
  }
}

/** The record that an event announces as erased; null: it announces none. */
function erasedBy({ type, data }: StreamEvent): string | null {
  if (type !== SUBJECT_ERASED) return null;
  return parseRecord(SUBJECT_ERASED, parseBody(PublicEventBody, type, data).record).erased_event_id;
}

const IdRows = z.array(z.object({ id: z.string() }));

/**
 * Counts the records of the sites that the ledger has after a revision, and this database does not have:
 * they were made after the backup.
 */
export async function findUnknownSites(db: Queryable, eventLog: EventLog, after: number): Promise<readonly LostKeys[]> {
  const sealed = new Set<string>();
  for await (const { type, data } of eventsOf(eventLog, LEDGER_STREAM, after + 1))
    if (type === BATCH_SEALED) for (const siteId of sitesOf(type, data)) sealed.add(siteId);
  const { rows } = await db.query(
    'select id::text from unnest($1::uuid[]) as sealed (id) where not exists (select from sites s where s.id = sealed.id)',
    [[...sealed]],
  );
  const counts: LostKeys[] = [];
  for (const { id: siteId } of IdRows.parse(rows)) {
    let records = 0;
    for await (const { type } of eventsOf(eventLog, consentsStream(siteId), 0)) if (isConsentType(type)) records += 1;
    counts.push({ siteId, records, isSiteKnown: false });
  }
  return counts;
}

/** The sites of a batch. An event that cannot be applied to the ledger names none; the worker reports it. */
function sitesOf(type: string, data: Uint8Array): readonly string[] {
  try {
    return parseBody(BatchSealedBody, type, data).runs.flatMap(([stream]) => siteOfStream(stream) ?? []);
  } catch (error) {
    if (error instanceof InvalidEventBody) return [];
    throw error;
  }
}

async function* eventsOf(eventLog: EventLog, stream: string, from: number): AsyncGenerator<StreamEvent, void> {
  for (let next = from; ; ) {
    const page = await eventLog.readStream(stream, next, PAGE);
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    next = last.revision + 1;
  }
}
