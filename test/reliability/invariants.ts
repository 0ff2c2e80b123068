import type pg from 'pg';
import { expect } from 'vitest';
import * as z from 'zod';
import type { OpenAudit } from '../../src/app/open-audit.js';
import { runAudit } from '../../src/audit/audit.js';
import type { Recorded } from './world.js';

const Rows = z.array(z.record(z.string(), z.unknown()));

/** Nothing of a settled installation is in flight: each query counts what still is. */
const IN_FLIGHT = {
  'not relayed': 'select count(*) from event_log.waiting',
  'not announced': 'select count(*) from erased_records where erasure_event_id is null',
  'not erased': 'select count(*) from erasure_requests where finished_at is null',
  'not sealed and stamped': `
    select count(*) from event_log.log e where (stream like 'consents-%' or stream like 'notices-%')
       and not exists (select from leaves l join checkpoints c on c.size > l.batch
                        where l.stream = e.stream and l.revision = e.revision)`,
  'not projected': `
    select count(*) from projection_generations where position::numeric < (
      select max(position) from event_log.log where stream like 'consents-%' or stream like 'notices-%')`,
} as const;

/** Each query finds what must not exist. They use nothing of the service but its tables. */
const BROKEN = {
  'a stream of the log has a gap': `
    select stream from event_log.log group by stream having count(*) <> max(revision) + 1 or min(revision) <> 0`,
  'an accepted event is not in the log once, at its revision': `
    select o.id from event_log.stored_events o where 1 <> (
      select count(*) from event_log.log e where e.id = o.id and e.stream = o.stream and e.revision = o.revision)`,
  'a position of the log has no event, or two': `
    select position from event_log.log group by position having count(*) <> 1
    union all select count(*) from event_log.log having count(*) <> coalesce(max(position), 0)`,
  'a stream ends elsewhere than its events': `
    select name from event_log.streams s where next_revision <> (select count(*) from event_log.events e where e.stream = s.number)`,
  'a sealed event is not in exactly one batch': `
    select e.id from event_log.log e left join leaves l on l.stream = e.stream and l.revision = e.revision
     where e.stream like 'consents-%' or e.stream like 'notices-%' group by e.id having count(l.batch) <> 1`,
  'a leaf has no event': `
    select l.event_id from leaves l where not exists (
      select from event_log.log e where e.id = l.event_id and e.stream = l.stream and e.revision = l.revision)`,
  'a size of the ledger has two checkpoints': 'select size from checkpoints group by size having count(*) > 1',
} as const;

/** How much is still in flight. */
export async function inFlight(db: pg.Pool): Promise<number> {
  const counts = Object.values(IN_FLIGHT).map((sql) => `(${sql})`);
  const { rows } = await db.query(`select (${counts.join(' + ')})::int as n`);
  return Number(Rows.parse(rows)[0]?.n);
}

/** Resolves when nothing is in flight any more. */
export async function settled(db: pg.Pool): Promise<void> {
  while ((await inFlight(db)) > 0) await new Promise((resolve) => setTimeout(resolve, 100));
}

/** The rules for streams, batches and checkpoints that a settled installation breaks. */
export async function brokenRules(db: pg.Pool): Promise<string[]> {
  const broken: string[] = [];
  for (const [meaning, sql] of Object.entries(BROKEN)) {
    const { rows } = await db.query(sql);
    if (rows.length > 0) broken.push(`${meaning}: ${JSON.stringify(rows)}`);
  }
  return broken;
}

/**
 * Expects of a settled installation: each consent that was answered with 202 is in the log once and no
 * other is, every stream is gapless and in order, each event is in one batch, promises are kept, and
 * the auditor finds no disagreement, among them none between read models and a replay.
 */
export async function expectNothingLost(
  db: pg.Pool,
  audit: OpenAudit,
  recorded: readonly Recorded[],
  label: string,
): Promise<void> {
  expect(await brokenRules(db), label).toEqual([]);
  const { rows } = await db.query(
    `select 'ct_' || replace(id::text, '-', '') as token from event_log.events where type like 'ConsentRecorded%'`,
  );
  const logged = Rows.parse(rows).map(({ token }) => String(token));
  expect(logged.toSorted(), `${label}: consents in the log`).toEqual(recorded.map(({ token }) => token).toSorted());
  await expectPromisesKept(db, recorded, label);
  const { findings } = await runAudit(audit.parts);
  expect(findings, `${label}: findings of the audit`).toEqual([]);
}

async function expectPromisesKept(db: pg.Pool, recorded: readonly Recorded[], label: string): Promise<void> {
  const { rows } = await db.query(
    `select l.event_id::text as id, b.header::jsonb->>'sealed_at' as sealed_at
       from leaves l join batches b on b.number = l.batch`,
  );
  const sealedAt = new Map(Rows.parse(rows).map(({ id, sealed_at: time }) => [String(id), String(time)]));
  for (const { promise } of recorded) {
    const [title, , , id = '', , , promised = ''] = promise.split('\n');
    expect(title, `${label}: a promise`).toBe('consent-ledger promise v1');
    const sealed = Date.parse(sealedAt.get(id) ?? '');
    expect(sealed, `${label}: the promise for ${id}`).toBeLessThanOrEqual(Date.parse(promised));
  }
}
