import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';

/**
 * The exhaustive searches among the tests. `npm test` runs a share of the cases of each, chosen by a
 * seed; `npm run test:exhaustive` runs all cases. A rule that no sweep tries belongs to `npm test` in
 * full.
 */
export const SWEEPS = {
  'altered columns': { file: 'test/audit/alterations.test.ts', share: 1 / 8 },
  'altered columns of granting rows': { file: 'test/api/server/sealed-rows.test.ts', share: 1 / 8 },
  'deleted rows': { file: 'test/audit/alterations.test.ts', share: 1 / 8 },
  'duplicated rows': { file: 'test/audit/alterations.test.ts', share: 1 / 8 },
  'flipped bytes of a package': { file: 'test/verifier/sweep.test.ts', share: 1 / 16 },
  'flipped bytes of a person’s package': { file: 'test/verifier/dishonest-operator/every-byte.test.ts', share: 1 / 4 },
  'flipped bytes before the signature': { file: 'test/verifier/dishonest-operator/every-byte.test.ts', share: 1 / 4 },
  'flipped bytes of a promise': { file: 'test/verifier/dishonest-operator/every-byte.test.ts', share: 1 / 8 },
  'forgeries by hand': { file: 'test/verifier/by-hand-forgeries.test.ts', share: 1 / 16 },
  'attacks by hand': { file: 'test/verifier/by-hand.test.ts', share: 1 / 16 },
  'hostile queries of the panel': { file: 'test/api/panel/hostile-input.test.ts', share: 1 / 8 },
  'hostile paths of the panel': { file: 'test/api/panel/hostile-input.test.ts', share: 1 / 8 },
  'hostile sizes of a package': { file: 'test/verifier/hostile-size.test.ts', share: 1 / 6 },
  'acts of an operator': { file: 'test/verifier/whole-service/the-play.test.ts', share: 1 / 6 },
  'random sequences of a visitor': { file: 'test/sdk/core/random-sequences.test.ts', share: 1 / 5 },
  'the same sequences with each SDK': { file: 'test/sdk/same-rules/same-rules.test.ts', share: 1 / 10 },
  'devices that lose requests and end apps': { file: 'test/sdk/mobile/offline.test.ts', share: 1 / 10 },
  'pumped texts': { file: 'test/api/server/pumped-texts.test.ts', share: 1 / 32 },
  'private addresses that a page leads to': { file: 'test/tenancy/scans/visits.test.ts', share: 1 / 8 },
  'hostile messages of the browser of a scan': {
    file: 'test/tenancy/scans/hostile-answers.test.ts',
    share: 3 / 100,
  },
  'hostile answers to a scan': { file: 'test/tenancy/scans/hostile-answers.test.ts', share: 3 / 100 },
  'signals that end the service': { file: 'test/integration/shutdown.test.ts', share: 1 / 4 },
  'signals that end the worker': { file: 'test/integration/worker-process.test.ts', share: 1 / 4 },
  'kills under load': { file: 'test/integration/crash.test.ts', share: 1 / 6 },
  'other servers': { file: 'test/reliability/failover.test.ts', share: 1 / 3 },
  'histories on many sessions': { file: 'test/reliability/simulation/simulation.test.ts', share: 1 / 8 },
  'full disks': { file: 'test/reliability/full-disk.test.ts', share: 1 / 2 },
  'faults of records': { file: 'test/reliability/records.test.ts', share: 1 / 4 },
  'faults of batches': { file: 'test/reliability/seals.test.ts', share: 1 / 4 },
  'faults of roll-ups': { file: 'test/reliability/roll-ups.test.ts', share: 1 / 4 },
  'faults of time stamps': { file: 'test/reliability/stamps.test.ts', share: 1 / 4 },
  'faults of erasures and exports': { file: 'test/reliability/persons.test.ts', share: 1 / 4 },
  'flipped bytes of a cosignature': { file: 'test/verifier/witnesses.test.ts', share: 1 / 4 },
  'flipped bytes of a time stamp': { file: 'test/rfc3161/every-byte.test.ts', share: 1 / 4 },
  'packages changed at random': { file: 'test/verifier/by-hand-forgeries.test.ts', share: 1 / 8 },
  'changed bytes of a line': { file: 'test/format/consent-lines.test.ts', share: 1 / 4 },
  'answers of hostile servers': { file: 'test/platform/net/hostile-answers.test.ts', share: 3 / 100 },
  'days of the other roles': { file: 'test/dashboard/roles.test.ts', share: 1 / 8 },
} as const satisfies Readonly<Record<string, { readonly file: string; readonly share: number }>>;

/** Files with tests that run only there, because they install large programs first. */
export const INSTALLING: readonly string[] = ['test/sdk/react/empty-folder.test.ts', 'test/sdk/react/pages.test.ts'];

export type Sweep = keyof typeof SWEEPS;

/** Whether this run tries all cases of every sweep. */
export const isExhaustive = (): boolean => process.env.TEST_LANE === 'exhaustive';

/**
 * Chooses the cases of a sweep that this run tries: all of them, or a share. The seed decides about
 * each case alone, so that a case that is added changes nothing for the others.
 * @param group of a sweep that tries the same cases with each of several things: the thing
 * @returns at least one case, in their order
 */
export function sampled<T>(sweep: Sweep, cases: readonly T[], group = ''): readonly T[] {
  if (isExhaustive()) return cases;
  const draws = cases.map((one, index) => ({ one, drawn: drawOf(sweep, `${group}${index}`) }));
  const chosen = draws.filter(({ drawn }) => drawn < SWEEPS[sweep].share);
  return (chosen.length > 0 ? chosen : draws.toSorted((a, b) => a.drawn - b.drawn).slice(0, 1)).map(({ one }) => one);
}

/**
 * Whether this run tries a case of a sweep whose cases are tests of their own (`caseOf`). Those that it
 * does not try are listed as skipped.
 */
export const isTried = (sweep: Sweep, name: string): boolean =>
  isExhaustive() || drawOf(sweep, name) < SWEEPS[sweep].share;

/** @returns from 0 to 1 */
function drawOf(sweep: Sweep, one: string): number {
  const digest = createHash('sha256').update(`${process.env.TEST_SEED} ${sweep} ${one}`).digest();
  return digest.readUInt32BE() / 2 ** 32;
}

/** The seed of this run: `TEST_SEED`, else the commit. */
export function seedOfRun(): string {
  if (process.env.TEST_SEED !== undefined) return process.env.TEST_SEED;
  try {
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    // A copy without its history.
    return 'no commit';
  }
}
