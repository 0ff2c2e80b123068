import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The slowest test files, slowest first. Any of them would delay the end of the run if it started
 * last.
 */
const LONGEST: readonly string[] = [
  'test/acceptance/acceptance.test.ts',
  'test/verifier/sweep.test.ts',
  'test/audit/alterations.test.ts',
  'test/verifier/by-hand-forgeries.test.ts',
  'test/verifier/whole-service/the-play.test.ts',
  'test/verifier/by-hand.test.ts',
  'test/tenancy/scans/visits.test.ts',
  'test/verifier/dishonest-operator/forgeries.test.ts',
  'test/reliability/memory-limit.test.ts',
  'test/demo/demo.test.ts',
  'test/app/metrics/metrics.test.ts',
  'test/dashboard/owner.test.ts',
  'test/dashboard/roles.test.ts',
  'test/integration/crash.test.ts',
  'test/platform/background/lease.test.ts',
  'test/verifier/dishonest-operator/every-byte.test.ts',
  'test/reliability/persons.test.ts',
  'test/verifier/attacks.test.ts',
  'test/api/server/sealed-rows.test.ts',
  'test/integration/worker-process.test.ts',
  'test/integration/shutdown.test.ts',
  'test/api/panel/hostile-input.test.ts',
  'test/verifier/corpus.test.ts',
  'test/api/tool/export.test.ts',
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
