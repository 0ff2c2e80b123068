import type { Findings } from '../findings/findings.js';
import type { Stamp, Stamps } from '../timestamps/stamp.js';

/** Moments in milliseconds since 1970, with the accuracy that the authority states. */
export interface ProvedTime {
  readonly size: number;
  readonly time: number;
  /** Milliseconds to either side; 0 where the authority states none. */
  readonly accuracy: number;
}

/** When a batch was sealed, as far as stamps prove it. */
export interface StampedTimes {
  /**
   * The earliest proved time by which a batch existed; null if no stamp that holds covers it.
   * @param number the batch's number
   */
  endOf(number: number): ProvedTime | null;
  /** The stamp over the checkpoint of this size, if it holds. */
  at(size: number): ProvedTime | null;
  /** Every stamp that holds, by size. */
  readonly all: readonly ProvedTime[];
}

/** A second, for authorities that count whole ones. */
const TOLERANCE_MS = 1000;

/**
 * Takes from the stamps those that hold and whose checkpoints are tied to the newest, and verifies
 * that later checkpoints do not bear earlier times.
 * @param tied sizes of the checkpoints that consistency proofs tie to the newest one
 */
export function stampedTimes(stamps: Stamps, tied: ReadonlySet<number>, findings: Findings): StampedTimes {
  const all = [...stamps.values()]
    .filter((stamp) => stamp.report.outcome === 'pass' && tied.has(stamp.size))
    .flatMap(provedTime);
  verifyOrder([...stamps.values()], findings);
  const bySize = new Map(all.map((proved) => [proved.size, proved]));
  const earliest: ProvedTime[] = [];
  for (const proved of all.toReversed()) {
    const best = earliest.at(-1);
    earliest.push(best !== undefined && best.time + best.accuracy <= proved.time + proved.accuracy ? best : proved);
  }
  earliest.reverse();
  return {
    all,
    at: (size) => bySize.get(size) ?? null,
    endOf: (number) => {
      let low = 0;
      let high = all.length;
      while (low < high) {
        const middle = Math.floor((low + high) / 2);
        if ((all[middle]?.size ?? 0) > number) high = middle;
        else low = middle + 1;
      }
      return earliest[low] ?? null;
    },
  };
}

/** Tokens are ordered only where their intervals do not overlap (RFC 3161 §2.4.2). */
function verifyOrder(stamps: readonly Stamp[], findings: Findings): void {
  let latest: ProvedTime | null = null;
  for (const stamp of stamps) {
    for (const proved of provedTime(stamp)) {
      const allowed = proved.accuracy + (latest?.accuracy ?? 0) + TOLERANCE_MS;
      if (latest !== null && proved.time + allowed < latest.time) {
        findings.fail(
          'time.order',
          `the time stamp is earlier than that of checkpoint ${latest.size}, which is smaller`,
          {
            file: stamp.file,
          },
        );
      } else {
        findings.pass('time.order');
      }
      if (latest === null || proved.time > latest.time) latest = proved;
    }
  }
}

function provedTime({ size, report }: Stamp): ProvedTime[] {
  const { claims } = report;
  if (claims === undefined) return [];
  return [{ size, time: claims.genTime.getTime(), accuracy: Math.ceil((claims.accuracyMicroseconds ?? 0) / 1000) }];
}
