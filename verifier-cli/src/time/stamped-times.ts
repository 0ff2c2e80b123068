import type { CheckId } from '../findings/checks.js';
import { finding } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';
import type { Policies } from '../policy/policies.js';
import { stampsDemanded } from '../policy/quorum.js';
import { causeOfNoStamp, causeOfStamp, type Stamp, type Stamps } from '../timestamps/stamp.js';

/** Moments in milliseconds since 1970, with the accuracy that the authority states. */
export interface ProvedTime {
  readonly size: number;
  /** Name of the response file. */
  readonly file: string;
  readonly time: number;
  /** Milliseconds to either side; 0 if the authority states none. */
  readonly accuracy: number;
}

/** What time stamps prove about when batches were sealed. */
export interface StampedTimes {
  /**
   * Returns how many distinct authorities must have stamped a batch: the number that the policies or the verifying
   * person require, whichever is larger. @param number number of the batch
   */
  requiredFor(number: number): number;
  /** The number of authorities that the policies require. @param number number of the batch */
  demandedFor(number: number): number;
  /**
   * The earliest proved time by which a batch existed: the time of the first stamp, or of the last one of the required
   * authorities. Null if valid stamps of too few authorities cover it.
   * @param number the batch's number
   */
  endOf(number: number): ProvedTime | null;
  /**
   * Returns the number of distinct authorities with a valid stamp that covers a batch.
   * @param number number of the batch
   */
  authoritiesOf(number: number): number;
  /** Returns the number of distinct authorities with a valid stamp over the checkpoint of this size. */
  authoritiesOver(size: number): number;
  /**
   * Returns the check that explains why no time by which a batch existed is proved, or null if there is no other cause.
   * @param number number of the batch
   */
  causeOfMissing(number: number): CheckId | null;
  /** Returns the stamp in this response file, if it is valid. */
  in(file: string): ProvedTime | null;
  /** All valid stamps, by size. */
  readonly all: readonly ProvedTime[];
}

/** Sources of the number of authorities that must have stamped a batch. */
export interface Demands {
  readonly policies: Policies;
  /** Number that the relying party requires, at least 1. */
  readonly atLeast: number;
}

/** One second, for authorities that only state whole seconds. */
const TOLERANCE_MS = 1000;

/**
 * Selects the valid stamps whose checkpoints are connected to the newest one, and verifies that later checkpoints do
 * not have earlier times (RFC 3161 §2.4.2).
 * @param tied sizes of the checkpoints that consistency proofs connect to the newest one
 */
export function stampedTimes(
  stamps: Stamps,
  tied: ReadonlySet<number>,
  { policies, atLeast }: Demands,
  findings: Findings,
): StampedTimes {
  const holding = stamps.filter((stamp) => stamp.report.outcome === 'pass' && tied.has(stamp.size));
  const all = holding.flatMap(provedTime);
  verifyOrder(holding, findings);
  const byFile = new Map(all.map((proved) => [proved.file, proved]));
  const ends = endsOf(holding);
  const indexOf = (number: number): number => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((ends[middle]?.size ?? 0) > number) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  const held = new Set(holding);
  const newestLost = stamps.findLast((stamp) => !held.has(stamp));
  const bySize = sizesByAuthority(holding);
  const demandedFor = demands(policies, bySize, indexOf);
  const requiredFor = (number: number): number => Math.max(atLeast, demandedFor(number));
  return {
    requiredFor,
    demandedFor,
    causeOfMissing: (number) => {
      if (stamps.length === 0) return causeOfNoStamp(findings);
      return newestLost === undefined || newestLost.size <= number ? null : causeOfStamp(newestLost.report);
    },
    authoritiesOver: (size) => [...bySize.values()].filter((sizes) => sizes.includes(size)).length,
    all,
    in: (file) => byFile.get(file) ?? null,
    endOf: (number) => ends[indexOf(number)]?.earliest[requiredFor(number) - 1] ?? null,
    authoritiesOf: (number) => ends[indexOf(number)]?.earliest.length ?? 0,
  };
}

/** The sizes of the checkpoints that each authority stamped, smallest first. */
function sizesByAuthority(holding: readonly Stamp[]): ReadonlyMap<string, readonly number[]> {
  const sizes = new Map<string, number[]>();
  for (const { size, report } of holding) {
    const known = sizes.get(report.organization ?? '');
    if (known === undefined) sizes.set(report.organization ?? '', [size]);
    else known.push(size);
  }
  return sizes;
}

/**
 * @param indexOf number of stamps over checkpoints that do not cover a batch: batches between two stamps, and under the
 * same policies, have the same requirement
 */
function demands(
  policies: Policies,
  bySize: ReadonlyMap<string, readonly number[]>,
  indexOf: (batch: number) => number,
): (batch: number) => number {
  // Cached, because up to a thousand policies are looked up for each of ten thousand checkpoints.
  const stampedBy = new Map<number, readonly number[]>();
  const sizeStampedBy = (batch: number, authorities: number): number => {
    const sizes = stampedBy.get(batch) ?? firstSizes(bySize, batch);
    stampedBy.set(batch, sizes);
    return sizes[authorities - 1] ?? Number.POSITIVE_INFINITY;
  };
  let known: { readonly key: string; readonly demanded: number } | null = null;
  return (batch) => {
    const key = `${policies.countUpTo(batch)} ${indexOf(batch)}`;
    if (known?.key !== key) known = { key, demanded: stampsDemanded(policies, batch, sizeStampedBy) };
    return known.demanded;
  };
}

/** The first size above a batch of each authority, smallest first. */
function firstSizes(bySize: ReadonlyMap<string, readonly number[]>, batch: number): readonly number[] {
  const first = [...bySize.values()].flatMap((sizes) => sizes.find((size) => size > batch) ?? []);
  return first.sort((a, b) => a - b);
}

/** Combined proof of all stamps from one on, in the order of their sizes. */
interface SuffixEnd {
  readonly size: number;
  /** The earliest stamp of each authority, the earliest first. */
  readonly earliest: readonly ProvedTime[];
}

function endsOf(holding: readonly Stamp[]): readonly SuffixEnd[] {
  const earliest = new Map<string, ProvedTime>();
  const ends: SuffixEnd[] = [];
  for (const stamp of holding.toReversed()) {
    const organization = stamp.report.organization ?? '';
    for (const proved of provedTime(stamp)) {
      const best = earliest.get(organization);
      if (best === undefined || endOf(proved) < endOf(best)) earliest.set(organization, proved);
    }
    const sorted = [...earliest.values()].sort((a, b) => endOf(a) - endOf(b));
    ends.push({ size: stamp.size, earliest: sorted });
  }
  return ends.reverse();
}

function endOf({ time, accuracy }: ProvedTime): number {
  return time + accuracy;
}

/**
 * Verifies the order of tokens, which is only defined where their intervals do not overlap (RFC 3161 §2.4.2). Those of
 * one checkpoint have no order.
 * @param stamps valid stamps; any other proves no time, and anyone could have made it
 */
function verifyOrder(stamps: readonly Stamp[], findings: Findings): void {
  let latest: ProvedTime | null = null;
  let own: ProvedTime | null = null;
  for (const stamp of stamps) {
    for (const proved of provedTime(stamp)) {
      if (own !== null && own.size !== proved.size) {
        if (latest === null || own.time > latest.time) latest = own;
        own = null;
      }
      const allowed = proved.accuracy + (latest?.accuracy ?? 0) + TOLERANCE_MS;
      if (latest !== null && proved.time + allowed < latest.time) {
        findings.fail('time.order', finding('stamp-times-decrease', { size: latest.size }), {
          file: stamp.file,
        });
      } else {
        findings.pass('time.order');
      }
      if (own === null || proved.time > own.time) own = proved;
    }
  }
}

function provedTime({ size, file, report }: Stamp): ProvedTime[] {
  const { claims } = report;
  if (claims === undefined) return [];
  const accuracy = Math.ceil((claims.accuracyMicroseconds ?? 0) / 1000);
  return [{ size, file, time: claims.genTime.getTime(), accuracy }];
}
