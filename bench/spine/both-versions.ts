import { LoadGenerator } from '../load-generator.js';
import { type BuiltVersion, buildVersion, PRESENT_VERSION } from './built-version.js';
import { openVersionBench, type VersionBench } from './version-bench.js';

/** The last version that kept each body in an outbox, in the log and in a read model. */
const BEFORE = process.env.BENCH_BEFORE ?? '1c5da2b9';

/** Both versions, or what was measured of them. */
export interface Both<T> {
  readonly before: T;
  readonly now: T;
}

/**
 * Builds the version before, and runs `serve` of both versions, each with an embedded PostgreSQL of its
 * own, while the work goes on.
 * @param sites that each of them gets
 * @throws Error if the other version cannot be built
 */
export async function withBothVersions(
  sites: number,
  work: (benches: Both<VersionBench>, generator: LoadGenerator) => Promise<void>,
): Promise<void> {
  const version = await buildVersion(BEFORE);
  try {
    await open([version, PRESENT_VERSION], sites, work);
  } finally {
    await version.remove();
  }
}

async function open(
  versions: readonly BuiltVersion[],
  sites: number,
  work: (benches: Both<VersionBench>, generator: LoadGenerator) => Promise<void>,
): Promise<void> {
  const opened = await Promise.allSettled(versions.map((version) => openVersionBench(version, sites)));
  const generator = new LoadGenerator();
  try {
    const [first, second] = opened.map((one) => {
      if (one.status === 'rejected') throw one.reason;
      return one.value;
    });
    if (first !== undefined && second !== undefined) await work({ before: first, now: second }, generator);
  } finally {
    await generator.stop();
    for (const one of opened) if (one.status === 'fulfilled') await one.value.close();
  }
}

/** Does the same for both versions, one after the other; every other round begins with this version. */
export async function inTurn<T>(
  benches: Both<VersionBench>,
  round: number,
  work: (bench: VersionBench) => Promise<T>,
): Promise<Both<T>> {
  if (round % 2 === 0) {
    const before = await work(benches.before);
    return { before, now: await work(benches.now) };
  }
  const now = await work(benches.now);
  return { before: await work(benches.before), now };
}

/** Does the same for both versions in several rounds. */
export async function alternating<T>(
  benches: Both<VersionBench>,
  rounds: number,
  work: (bench: VersionBench) => Promise<T>,
): Promise<Both<readonly T[]>> {
  const both: Both<T>[] = [];
  for (let round = 0; round < rounds; round += 1) both.push(await inTurn(benches, round, work));
  return { before: both.map(({ before }) => before), now: both.map(({ now }) => now) };
}

/** Returns the names of both versions, for the head of a table. */
export function namesOf({ before }: Both<VersionBench>): [before: string, now: string] {
  return [`before (${before.name})`, 'now'];
}
