import { randomInt } from 'node:crypto';
import { v7 as uuidV7 } from 'uuid';
import * as z from 'zod';
import { consentsStream } from '../../schemas/events/streams.js';
import { ERASURE_REASONS, SUBJECT_ERASED, type SubjectErasedRecord } from '../../schemas/events/subject-erased.js';
import { canonicalJson } from '../../schemas/json/canonical-json.js';
import { type Queryable, withTransaction } from '../platform/database/pool.js';
import { putEvents } from '../platform/database/shared-statements.js';
import { lockSite } from './destroy.js';

export interface AnnounceOptions {
  /** A handle in the role `consent_ledger_worker`. */
  readonly db: Queryable;
  readonly now?: () => Date;
  /** Returns a random whole number from 0 to `below` − 1. The default is cryptographically secure. */
  readonly random?: (below: number) => number;
}

/** Number of announcements that one transaction queues. */
const PAGE = 1_000;

const siteRows = z.array(z.object({ site_id: z.string() }));
const waitingRows = z.array(
  z.object({ event_id: z.string(), reason: z.enum(ERASURE_REASONS), request_id: z.string().nullable() }),
);
type Waiting = z.infer<typeof waitingRows>[number];
const progressRows = z.tuple([z.object({ announced_at: z.date() })]);

/**
 * Queues the collected announcements if an interval has ended since the last time. Intervals begin at multiples of
 * their length since 1970, so a restart neither delays nor advances an announcement.
 * @param intervalMs milliseconds
 * @returns number of queued announcements, or null if no interval has ended
 */
export async function announceDueErasures(options: AnnounceOptions, intervalMs: number): Promise<number | null> {
  const { db, now = () => new Date() } = options;
  const { rows } = await db.query('select announced_at from erasure_progress');
  const [{ announced_at: before }] = progressRows.parse(rows);
  const time = now();
  if (Math.floor(time.getTime() / intervalMs) <= Math.floor(before.getTime() / intervalMs)) return null;
  const announced = await announceErasures(options);
  await db.query('update erasure_progress set announced_at = $1', [time]);
  return announced;
}

/**
 * Queues a `SubjectErased` for each erased record that has none, in random order, so that the log does
 * not show which records were erased together. Each record is announced once: one transaction queues
 * the announcement and marks the record. Safe to run concurrently.
 * @returns number of queued announcements
 */
export async function announceErasures(options: AnnounceOptions): Promise<number> {
  const { db, random = (below) => randomInt(below) } = options;
  const sites = await db.query('select distinct site_id from erased_records where erasure_event_id is null');
  let announced = 0;
  for (const { site_id: siteId } of siteRows.parse(sites.rows)) {
    const { rows } = await db.query(
      'select event_id, reason, request_id from erased_records where site_id = $1 and erasure_event_id is null',
      [siteId],
    );
    const waiting = shuffled(waitingRows.parse(rows), random);
    for (let i = 0; i < waiting.length; i += PAGE)
      announced += await announcePage(options, siteId, waiting.slice(i, i + PAGE));
  }
  return announced;
}

/**
 * Shuffles a list: every order is equally likely (Fisher and Yates).
 * @param random returns a whole number from 0 to `below` − 1, each equally likely
 */
export function shuffled<T>(list: readonly T[], random: (below: number) => number): readonly T[] {
  const rest = [...list];
  const order: T[] = [];
  while (rest.length > 0) {
    const at = random(rest.length);
    const last = rest.pop();
    if (last === undefined) break;
    const chosen = rest[at];
    order.push(chosen ?? last);
    if (chosen !== undefined) rest[at] = last;
  }
  return order;
}

function announcePage(
  { db, now = () => new Date() }: AnnounceOptions,
  siteId: string,
  page: readonly Waiting[],
): Promise<number> {
  return withTransaction(db, async (db) => {
    await db.query('set local synchronous_commit = on');
    await lockSite(db, siteId);
    const events = page.map((waiting) => ({ ...waiting, announcement: uuidV7() }));
    const { rows } = await db.query(
      `update erased_records e set erasure_event_id = a.announcement
         from unnest($1::uuid[], $2::uuid[]) as a (event_id, announcement)
        where e.event_id = a.event_id and e.erasure_event_id is null returning e.event_id`,
      [events.map(({ event_id: id }) => id), events.map(({ announcement }) => announcement)],
    );
    const marked = new Set(
      z
        .array(z.object({ event_id: z.string() }))
        .parse(rows)
        .map(({ event_id: id }) => id),
    );
    const created = now().toISOString();
    const own = events.filter(({ event_id: id }) => marked.has(id));
    await db.query('insert into erasure_events (event_id, request_id) select * from unnest($1::uuid[], $2::uuid[])', [
      own.map(({ announcement }) => announcement),
      own.map(({ request_id: request }) => request),
    ]);
    await putEvents(
      db,
      siteId,
      consentsStream(siteId),
      own.map((one) => ({
        id: one.announcement,
        type: SUBJECT_ERASED,
        data: Buffer.from(bodyOf(siteId, one, created), 'utf8'),
      })),
    );
    return own.length;
  });
}

function bodyOf(siteId: string, erasure: Waiting & { readonly announcement: string }, created: string): string {
  const record: SubjectErasedRecord = {
    v: 1,
    event_id: erasure.announcement,
    site_id: siteId,
    created_at: created,
    reason: erasure.reason,
    erased_event_id: erasure.event_id,
  };
  return canonicalJson({ record: canonicalJson(record) });
}
