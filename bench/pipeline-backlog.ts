import type pg from 'pg';
import { z } from 'zod';

/** Events that wait at one moment, by what they wait for. */
export interface Backlog {
  /** Milliseconds, monotonic. */
  readonly at: number;
  /** Accepted, and not in the log. */
  readonly relay: number;
  /** In the log, and not in the slowest read model. */
  readonly projections: number;
  /** In the log, and in no Merkle batch. */
  readonly sealer: number;
}

const BacklogRow = z.tuple([
  z.object({ relay: z.coerce.number(), projections: z.coerce.number(), sealer: z.coerce.number() }),
]);
const CountRow = z.tuple([z.object({ count: z.coerce.number() })]);

const POLL_MS = 100;
const MAX_MS = 600_000;

/** Expressions of SQL for what one version of the schema states in its own way. */
export interface BacklogSql {
  /** Events that were accepted and are not in the log. */
  readonly waiting: string;
  /** Whether there is any; counts none. */
  readonly isWaiting: string;
  /** Position of the last event in the log; null: the log is empty. */
  readonly lastPosition: string;
  /** Events of the sites' streams in the log. */
  readonly logged: string;
}

const BACKLOG: BacklogSql = {
  waiting: '(select coalesce(sum(count), 0) from event_log.waiting)',
  isWaiting: 'exists (select from event_log.waiting)',
  lastPosition: '(select max(position + count - 1) from event_log.runs)',
  // The view of the last logged revisions took 18 ms for a thousand sites, which would be measured, too.
  logged: `((select coalesce(sum(next_revision), 0) from event_log.streams where site_id is not null)
            - (select coalesce(sum(count), 0) from event_log.waiting))`,
};
/** The same for versions that kept each event in an outbox and in the log. */
const BACKLOG_OF_OUTBOX: BacklogSql = {
  waiting: '(select count(*) from outbox_waiting)',
  isWaiting: 'exists (select from outbox_waiting)',
  lastPosition: '(select max(position) from event_log.events)',
  logged: '(select coalesce(sum(revision + 1), 0) from relayed_streams)',
};

const OutboxRow = z.tuple([z.object({ has_outbox: z.boolean() })]);

/** Returns the expressions for the schema of a database, whose version may be an older one. */
export async function backlogSqlOf(db: pg.Pool): Promise<BacklogSql> {
  const { rows } = await db.query("select to_regclass('public.outbox_waiting') is not null as has_outbox");
  return OutboxRow.parse(rows)[0].has_outbox ? BACKLOG_OF_OUTBOX : BACKLOG;
}

export async function readBacklog(db: pg.Pool, sql = BACKLOG): Promise<Backlog> {
  const { rows } = await db.query(
    `select ${sql.waiting} as relay,
            coalesce(${sql.lastPosition}, 0)
              - (select coalesce(min(position::bigint), 0) from projection_generations) as projections,
            ${sql.logged} - (select coalesce(sum(revision + 1), 0) from sealed_streams) as sealer`,
  );
  return { at: performance.now(), ...BacklogRow.parse(rows)[0] };
}

/** Events of consents in the log. */
export async function loggedConsents(db: pg.Pool): Promise<number> {
  const { rows } = await db.query("select count(*) from event_log.events where type = 'ConsentRecorded.v1'");
  return CountRow.parse(rows)[0].count;
}

const WaitingRow = z.tuple([z.object({ is_waiting: z.boolean() })]);

/** Stages that may be waited for: until an event is in the read models, or also in a Merkle batch. */
export type Stages = 'shown' | 'all';

/** Whether any event waits. It counts none: a count of thousands of rows would be measured, too. */
async function isWaiting(db: pg.Pool, stages: Stages, sql: BacklogSql): Promise<boolean> {
  const unsealed = `or ${sql.logged} > (select coalesce(sum(revision + 1), 0) from sealed_streams)`;
  const { rows } = await db.query(
    `select ${sql.isWaiting}
         or coalesce(${sql.lastPosition}, 0)
              > (select coalesce(min(position::bigint), 0) from projection_generations)
         ${stages === 'all' ? unsealed : ''} as is_waiting`,
  );
  return WaitingRow.parse(rows)[0].is_waiting;
}

/** Resolves when no event waits for one of the stages. @returns milliseconds */
export async function settled(db: pg.Pool, stages: Stages = 'all', sql = BACKLOG): Promise<number> {
  const started = performance.now();
  while (performance.now() - started < MAX_MS) {
    if (!(await isWaiting(db, stages, sql))) return performance.now() - started;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error('the worker did not finish the backlog');
}

/** Samples the backlog until `stop`, which returns the samples. */
export function sampleBacklog(
  db: pg.Pool,
  everyMs: number,
  onSample: (backlog: Backlog) => void = () => undefined,
  sql = BACKLOG,
): { stop(): Promise<readonly Backlog[]> } {
  const samples: Backlog[] = [];
  let isOver = false;
  const sampling = (async () => {
    while (!isOver) {
      const sample = await readBacklog(db, sql);
      samples.push(sample);
      onSample(sample);
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await sampling;
      return samples;
    },
  };
}

/** Slope of a line through the samples by least squares, in events a second. */
export function slopeOf(samples: readonly Backlog[], count: (backlog: Backlog) => number): number {
  const n = samples.length;
  const meanAt = samples.reduce((sum, { at }) => sum + at, 0) / n;
  const mean = samples.reduce((sum, sample) => sum + count(sample), 0) / n;
  let above = 0;
  let below = 0;
  for (const sample of samples) {
    above += (sample.at - meanAt) * (count(sample) - mean);
    below += (sample.at - meanAt) ** 2;
  }
  return (above / below) * 1000;
}
