import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The slowest test files, slowest first. Any of them would delay the end of the run if it started
 * last.
 */
const LONGEST: readonly string[] = [
  'test/acceptance/acceptance.test.ts',
  'test/verifier/whole-service/the-play.test.ts',
  'test/verifier/by-hand-forgeries.test.ts',
  'test/reliability/memory-limit.test.ts',
  'test/verifier/sweep.test.ts',
  'test/tenancy/scans/visits.test.ts',
  'test/api/tool/export.test.ts',
  'test/verifier/by-hand.test.ts',
  'test/dashboard/owner.test.ts',
  'test/platform/database/embedded/crashes.test.ts',
  'test/app/metrics/metrics.test.ts',
  'test/integration/shutdown.test.ts',
  'test/integration/crash.test.ts',
  'test/verifier/attacks.test.ts',
  'test/verifier/corpus.test.ts',
];

/** Runs the longest test files first, and the others in Vitest's own order. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const place = LONGEST.findIndex((name) => moduleId.endsWith(name));
  return place === -1 ? LONGEST.length : place;
}
