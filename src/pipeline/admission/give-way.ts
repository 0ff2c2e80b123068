import { z } from 'zod';
import { pause } from '../../platform/background/waiting.js';
import type { Queryable } from '../../platform/database/pool.js';

export interface GiveWayOptions {
  /** In a role that reads the outbox. */
  readonly db: Queryable;
  /** Monotonic milliseconds. */
  readonly monotonic?: () => number;
  /** @param ms milliseconds */
  readonly rest?: (ms: number) => Promise<void>;
}

/** Consents a second at which long work rests for as long as it works. */
const RATE_OF_EQUAL_SHARES = 500;
/** Long work keeps a third of its time, so that it ends under any load. */
const MOST_RESTS = 2;
const LONGEST_REST_MS = 1000;
const LOOK_EVERY_MS = 1000;

/**
 * Returns what long work calls between two pieces, and what rests while admission is busy: somebody
 * waits for each consent, and nobody for each page. A lower priority of the process is not enough,
 * because it reaches neither its connections to PostgreSQL nor another machine. Without consents
 * there is no rest.
 */
export function createGiveWay(options: GiveWayOptions): () => Promise<void> {
  const { db, monotonic = () => performance.now(), rest = pause } = options;
  let looked: Look | null = null;
  let rate = 0;
  let workingSince = monotonic();

  const look = async (): Promise<void> => {
    const seq = await lastSeq(db);
    const at = monotonic();
    rate = looked === null ? 0 : rateBetween(looked, { at, seq });
    looked = { at, seq };
  };
  return async () => {
    const workedMs = monotonic() - workingSince;
    if (looked === null || monotonic() - looked.at >= LOOK_EVERY_MS) await look();
    const restMs = restAfter(workedMs, rate);
    if (restMs > 0) await rest(restMs);
    workingSince = monotonic();
  };
}

/**
 * @param workedMs milliseconds of work since the last rest
 * @param rate consents that admission accepts a second
 * @returns milliseconds to rest
 */
export function restAfter(workedMs: number, rate: number): number {
  return Math.min(LONGEST_REST_MS, workedMs * Math.min(MOST_RESTS, rate / RATE_OF_EQUAL_SHARES));
}

interface Look {
  /** Monotonic milliseconds. */
  readonly at: number;
  /** Last number of the outbox; null if it is empty, as it is some time after the last consent. */
  readonly seq: number | null;
}

function rateBetween(earlier: Look, later: Look): number {
  if (earlier.seq === null || later.seq === null) return 0;
  return (Math.max(0, later.seq - earlier.seq) * 1000) / (later.at - earlier.at);
}

const Last = z.tuple([z.object({ seq: z.coerce.number().nullable() })]);

async function lastSeq(db: Queryable): Promise<number | null> {
  const { rows } = await db.query({ name: 'last_outbox_seq', text: 'select max(seq) as seq from outbox' });
  return Last.parse(rows)[0].seq;
}
