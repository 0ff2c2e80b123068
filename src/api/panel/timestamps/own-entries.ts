import * as z from 'zod';
import { consentsStream, noticesStream } from '../../../../schemas/events/streams.js';
import type { Queryable } from '../../../platform/database/pool.js';

/** The streams of a tenant's sites. */
export interface OwnStreams {
  readonly consents: readonly string[];
  readonly notices: readonly string[];
}

/** The streams of every site of a tenant. */
export async function ownStreams(db: Queryable, tenantId: string): Promise<OwnStreams> {
  const { rows } = await db.query('select id from sites where tenant_id = $1 order by id', [tenantId]);
  const ids = z.array(z.object({ id: z.string() })).parse(rows);
  return { consents: ids.map(({ id }) => consentsStream(id)), notices: ids.map(({ id }) => noticesStream(id)) };
}

/**
 * How far streams are sealed in the batches below a number: the last revision of each stream that
 * is in one, and its batch.
 */
export type SealedBelow = ReadonlyMap<string, { readonly revision: number; readonly batch: number }>;

const FoundRows = z.array(z.object({ stream: z.string(), revision: z.int(), batch: z.int() }));

/**
 * A binary search in each stream: revisions are gapless, and later ones are in later batches. So it
 * takes as long for a tenant with few records among many of others as for any.
 * @param batch the batches below this number; null: all
 * @returns without the streams of which nothing is in them
 */
export async function sealedBelow(
  db: Queryable,
  { consents, notices }: OwnStreams,
  batch: number | null,
): Promise<SealedBelow> {
  const { rows } = await db.query(
    `with recursive search (number, stream, low, high) as (
       select number, stream, -1::bigint, revision from sealed_streams where stream = any($1)
       union all
       select s.number, s.stream,
              case when $2::bigint is null or e.batch < $2 then e.revision else s.low end,
              case when $2::bigint is null or e.batch < $2 then s.high else e.revision - 1 end
         from search s
         join sealed_events e on e.stream = s.number
          and e.revision = case when $2::bigint is null then s.high else (s.low + s.high + 1) / 2 end
        where s.low < s.high)
     select f.stream, e.revision, e.batch
       from search f join sealed_events e on e.stream = f.number and e.revision = f.high
      where f.low = f.high`,
    [[...consents, ...notices], batch],
  );
  return new Map(
    FoundRows.parse(rows).map(({ stream, revision, batch: found }) => [stream, { revision, batch: found }]),
  );
}

/** A batch with entries of some streams. */
export interface OwnBatch {
  readonly number: number;
  readonly entries: { readonly consents: number; readonly notices: number };
}

/**
 * The batches that hold entries of these streams, the newest first.
 * @param below only batches below this number; null: all
 */
export async function ownBatches(
  db: Queryable,
  streams: OwnStreams,
  below: number | null,
  limit: number,
): Promise<OwnBatch[]> {
  const batches: OwnBatch[] = [];
  let sealed = await sealedBelow(db, streams, below);
  while (batches.length < limit && sealed.size > 0) {
    const number = Math.max(...[...sealed.values()].map(({ batch }) => batch));
    const before = await sealedBelow(db, streams, number);
    batches.push({
      number,
      entries: { consents: added(streams.consents, sealed, before), notices: added(streams.notices, sealed, before) },
    });
    sealed = before;
  }
  return batches;
}

function added(streams: readonly string[], sealed: SealedBelow, before: SealedBelow): number {
  return streams.reduce(
    (sum, stream) => sum + (sealed.get(stream)?.revision ?? -1) - (before.get(stream)?.revision ?? -1),
    0,
  );
}
