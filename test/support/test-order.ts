import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The slowest test files, slowest first. Any of them would delay the end of the run if it started
 * last.
 */
const LONGEST: readonly string[] = [
  'test/acceptance/acceptance.large.test.ts',
  'test/verifier/sweep.large.test.ts',
  'test/audit/alterations.large.test.ts',
  'test/verifier/by-hand-forgeries.large.test.ts',
  'test/verifier/whole-service/operator-acts.large.test.ts',
  'test/verifier/by-hand.large.test.ts',
  'test/tenancy/scans/visits.large.test.ts',
  'test/verifier/dishonest-operator/forgeries.large.test.ts',
  'test/reliability/memory-limit.large.test.ts',
  'test/demo/demo.walk.test.ts',
  'test/app/metrics/metrics.large.test.ts',
  'test/dashboard/owner.large.test.ts',
  'test/dashboard/roles.large.test.ts',
  'test/integration/crash.large.test.ts',
  'test/platform/background/lease.large.test.ts',
  'test/verifier/dishonest-operator/every-byte.large.test.ts',
  'test/reliability/persons.large.test.ts',
  'test/verifier/attacks.large.test.ts',
  'test/api/server/sealed-rows.large.test.ts',
  'test/integration/worker-process.large.test.ts',
  'test/integration/shutdown.large.test.ts',
  'test/api/panel/hostile-input.large.test.ts',
  'test/verifier/interop.test.ts',
  'test/api/tool/export.db.test.ts',
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
