import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { z } from 'zod';

const SAMPLE_MS = 20;
/** Connections of the process that answers callers. */
const CALLERS = 'consent-ledger serve';

/** States of a transaction of admission. */
const WAITS = ['flush', 'lock of the site', 'processor', 'its caller', 'other'] as const;
type Wait = (typeof WAITS)[number];

/** Shares of the time of the transactions of admission, by what they wait for. */
export interface WaitShares {
  /** 0 to 1 each; their sum is 1. */
  readonly shares: readonly { readonly wait: Wait; readonly share: number }[];
  /** Transactions at a time, on average. */
  readonly transactions: number;
  /** Names of the waits that count as other ones. */
  readonly others: readonly string[];
  /** Part of the processors of the machine that was idle; not a number without /proc. */
  readonly idle: number;
}

const Rows = z.array(
  z.object({ state: z.string(), type: z.string().nullable(), event: z.string().nullable(), count: z.coerce.number() }),
);

/** Samples the waits of admission until `stop`. */
export function sampleWaits(db: pg.Pool): { stop(): Promise<WaitShares> } {
  const counts: Record<Wait, number> = { flush: 0, 'lock of the site': 0, processor: 0, 'its caller': 0, other: 0 };
  const others = new Set<string>();
  let samples = 0;
  let isOver = false;
  const before = processorTicks();
  const sampling = (async () => {
    while (!isOver) {
      const { rows } = await db.query({
        name: 'bench_waits',
        text: `select state, wait_event_type as type, wait_event as event, count(*) from pg_stat_activity
                where application_name = $1 and state in ('active', 'idle in transaction') group by 1, 2, 3`,
        values: [CALLERS],
      });
      for (const { type, event, count } of Rows.parse(rows)) {
        const wait = waitOf(type, event);
        counts[wait] += count;
        if (wait === 'other') others.add(`${type}:${event}`);
      }
      samples += 1;
      await sleep(SAMPLE_MS);
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await sampling;
      const [from, to] = [await before, await processorTicks()];
      const all = WAITS.reduce((sum, wait) => sum + counts[wait], 0);
      return {
        shares: WAITS.map((wait) => ({ wait, share: counts[wait] / all })),
        transactions: all / samples,
        others: [...others],
        idle: (to.idle - from.idle) / (to.all - from.all),
      };
    },
  };
}

function waitOf(type: string | null, event: string | null): Wait {
  if (type === null) return 'processor';
  if (type === 'Lock') return 'lock of the site';
  if (type === 'Client') return 'its caller';
  // A commit writes and flushes the log, in a new file if necessary, or waits for one that does so for several.
  if (event !== null && /^Wal|^WALWrite$/.test(event)) return 'flush';
  return 'other';
}

/** Ticks of all processors so far. */
async function processorTicks(): Promise<{ readonly idle: number; readonly all: number }> {
  const text = await readFile('/proc/stat', 'utf8').catch(() => '');
  const ticks = (/^cpu +(.+)$/m.exec(text)?.[1] ?? '').split(' ').map(Number);
  // The fields user to steal; those of guests are in the first two.
  const all = ticks.slice(0, 8).reduce((sum, value) => sum + value, 0);
  return { idle: (ticks[3] ?? Number.NaN) + (ticks[4] ?? Number.NaN), all };
}
