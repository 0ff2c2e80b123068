import * as z from 'zod';
import type { TimestampStatusResponse } from '../../../../schemas/api/panel/timestamps.js';
import { siteOfStream } from '../../../../schemas/events/streams.js';
import type { Config } from '../../../platform/config/index.js';
import type { Queryable } from '../../../platform/database/pool.js';
import {
  authorityName,
  DEVELOPMENT_AUTHORITY,
  isDevelopmentStamp,
  stampedBy,
} from '../../../timestamping/authorities.js';
import { type OwnStreams, ownStreams, sealedBelow } from './own-entries.js';

type Status = z.infer<typeof TimestampStatusResponse>['data'];

const StampRows = z
  .array(z.object({ size: z.int(), gen_time: z.date(), authorities: z.array(z.string()), is_development: z.boolean() }))
  .max(1);
const LogRows = z.array(z.object({ stream: z.string(), revision: z.int() }));
const WaitingRows = z.tuple([z.object({ waiting: z.int(), oldest: z.date().nullable(), now: z.date() })]);
const OldestRows = z.tuple([z.object({ oldest: z.date().nullable() })]);

/** Counts the tenant's events that wait for a seal or a time stamp, and names the installation's authorities. */
export async function timestampStatus(db: Queryable, config: Config, tenantId: string): Promise<Status> {
  const streams = await ownStreams(db, tenantId);
  const stamps = await db.query(
    `select size, gen_time, authorities, ${isDevelopmentStamp('c')} as is_development
       from checkpoints c order by size desc limit 1`,
  );
  const [last] = StampRows.parse(stamps.rows);
  const sealed = await sealedBelow(db, streams, null);
  const stamped = await sealedBelow(db, streams, last?.size ?? 0);
  const logged = await revisionsInLog(db, streams);
  const { waiting, oldest, now } = await waitingForLog(db, tenantId);
  const oldestInLog = await oldestConsentBehind(db, streams, (stream) => stamped.get(stream)?.revision ?? -1);
  const times = [oldest, oldestInLog].flatMap((time) => time?.getTime() ?? []);
  return {
    unstamped_age_seconds: times.length === 0 ? null : Math.max(0, (now.getTime() - Math.min(...times)) / 1000),
    unsealed_entries: waiting + missing(logged, sealed),
    unstamped_entries: waiting + missing(logged, stamped),
    last_stamp: last ? { size: last.size, gen_time: last.gen_time.toISOString(), authorities: stampedBy(last) } : null,
    authorities: config.timestamping?.urls.map(authorityName) ?? [DEVELOPMENT_AUTHORITY],
    is_development: config.timestamping === undefined,
  };
}

function missing(
  logged: ReadonlyMap<string, number>,
  done: ReadonlyMap<string, { readonly revision: number }>,
): number {
  let count = 0;
  for (const [stream, revision] of logged) count += Math.max(0, revision - (done.get(stream)?.revision ?? -1));
  return count;
}

async function revisionsInLog(db: Queryable, { consents, notices }: OwnStreams): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query('select stream, revision from event_log.logged_streams where stream = any($1)', [
    [...consents, ...notices],
  ]);
  return new Map(LogRows.parse(rows).map(({ stream, revision }) => [stream, revision]));
}

/** Events on their way to the log. `oldest`: of the consents among them. */
async function waitingForLog(db: Queryable, tenantId: string): Promise<z.infer<typeof WaitingRows>[0]> {
  const { rows } = await db.query(
    `select coalesce(sum(w.count), 0)::int as waiting, min(w.created_at) filter (where t.name like 'consents-%') as oldest, now() as now
       from sites s join event_log.waiting w on w.site_id = s.id join event_log.streams t on t.number = w.stream
      where s.tenant_id = $1`,
    [tenantId],
  );
  return WaitingRows.parse(rows)[0];
}

async function oldestConsentBehind(
  db: Queryable,
  { consents }: OwnStreams,
  revisionOf: (stream: string) => number,
): Promise<Date | null> {
  const { rows } = await db.query(
    `select min(first.created_at) as oldest
       from unnest($1::uuid[], $2::bigint[]) as s (site_id, revision)
      cross join lateral (select created_at from read_model.consents c
                           where c.site_id = s.site_id and c.revision > s.revision order by c.revision limit 1) first`,
    [consents.map(siteOfStream), consents.map(revisionOf)],
  );
  return OldestRows.parse(rows)[0].oldest;
}
