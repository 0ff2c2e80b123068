import type pg from 'pg';
import * as z from 'zod';

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

const WAITING = '(select coalesce(sum(count), 0) from event_log.waiting)';
/** Position of the last event in the log; null: the log is empty. */
const LAST_POSITION = '(select max(position + count - 1) from event_log.runs)';
/** Events of sites in the log. The view of the last logged revisions took 18 ms for a thousand sites, which would be measured, too. */
const LOGGED = `((select coalesce(sum(next_revision), 0) from event_log.streams where site_id is not null) - ${WAITING})`;

export async function readBacklog(db: pg.Pool): Promise<Backlog> {
  const { rows } = await db.query(
    `select ${WAITING} as relay,
            coalesce(${LAST_POSITION}, 0)
              - (select coalesce(min(position::bigint), 0) from projection_generations) as projections,
            ${LOGGED} - (select coalesce(sum(revision + 1), 0) from sealed_streams) as sealer`,
  );
  return { at: performance.now(), ...BacklogRow.parse(rows)[0] };
}

/** Events of consents in the log. */
export async function loggedConsents(db: pg.Pool): Promise<number> {
  const { rows } = await db.query("select count(*) from event_log.events where type = 'ConsentRecorded.v1'");
  return CountRow.parse(rows)[0].count;
}

const WaitingRow = z.tuple([z.object({ is_waiting: z.boolean() })]);

/** Whether any event waits. It counts none: a count of thousands of rows would be measured, too. */
async function isWaiting(db: pg.Pool): Promise<boolean> {
  const { rows } = await db.query(
    `select exists (select from event_log.waiting)
         or coalesce(${LAST_POSITION}, 0)
              > (select coalesce(min(position::bigint), 0) from projection_generations)
         or ${LOGGED} > (select coalesce(sum(revision + 1), 0) from sealed_streams) as is_waiting`,
  );
  return WaitingRow.parse(rows)[0].is_waiting;
}

/** Resolves when every event is in the log, in the read models and in a Merkle batch. @returns milliseconds */
export async function settled(db: pg.Pool): Promise<number> {
  const started = performance.now();
  while (performance.now() - started < MAX_MS) {
    if (!(await isWaiting(db))) return performance.now() - started;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error('the worker did not finish the backlog');
}

/** Samples the backlog until `stop`, which returns the samples. */
export function sampleBacklog(
  db: pg.Pool,
  everyMs: number,
  onSample: (backlog: Backlog) => void = () => undefined,
): { stop(): Promise<readonly Backlog[]> } {
  const samples: Backlog[] = [];
  let isOver = false;
  const sampling = (async () => {
    while (!isOver) {
      const sample = await readBacklog(db);
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
