import type { ReportedStamp } from './report.js';

/** Time stamps that differ only in their times. */
export interface StampGroup {
  /** The first of these stamps. Its statements hold for all. */
  readonly stamp: ReportedStamp;
  readonly earliest: string | null;
  readonly latest: string | null;
  readonly stamps: readonly ReportedStamp[];
}

/** Groups time stamps of the same authority with the same outcome and end, in the order of the first of each. */
export function groupStamps(stamps: readonly ReportedStamp[]): readonly StampGroup[] {
  const groups = new Map<string, ReportedStamp[]>();
  for (const stamp of stamps) {
    const { outcome, authority, organization, revocation, sound_until: end, renewed_by: renewed } = stamp;
    const key = JSON.stringify([outcome, authority, organization, revocation, end, renewed, stamp.time === null]);
    groups.set(key, [...(groups.get(key) ?? []), stamp]);
  }
  return [...groups.values()].flatMap((group) => {
    const [stamp] = group;
    if (stamp === undefined) return [];
    const times = group.flatMap(({ time }) => time ?? []).sort();
    return [{ stamp, earliest: times[0] ?? null, latest: times.at(-1) ?? null, stamps: group }];
  });
}
