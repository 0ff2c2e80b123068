import { createHash } from 'node:crypto';

/**
 * The exhaustive searches among the tests, all of them in large files. `npm run test:all` runs a share of
 * the cases of each, chosen by a seed, and `npm run test:exhaustive` all cases. CI runs at least a seventh
 * of each, and all cases of those whose subject (folders) was changed since the commit at which all of them
 * ran last (`test/ratchet.json`). A rule that no sweep tries belongs to `npm test` in full.
 */
export const SWEEPS = {
  'altered columns': {
    file: 'test/audit/alterations.large.test.ts',
    share: 1 / 8,
    subject: ['src/audit', 'src/platform/database', 'src/platform/keys'],
  },
  'altered columns of granting rows': {
    file: 'test/api/server/sealed-rows.large.test.ts',
    share: 1 / 8,
    subject: ['src/platform/database', 'src/api/guards', 'src/accounts', 'src/tenancy'],
  },
  'deleted rows': {
    file: 'test/audit/alterations.large.test.ts',
    share: 1 / 8,
    subject: ['src/audit', 'src/platform/database'],
  },
  'duplicated rows': {
    file: 'test/audit/alterations.large.test.ts',
    share: 1 / 8,
    subject: ['src/audit', 'src/platform/database'],
  },
  'flipped bytes of a package': {
    file: 'test/verifier/sweep.large.test.ts',
    share: 1 / 16,
    subject: ['verifier-cli/src', 'schemas'],
  },
  'flipped bytes of a person’s package': {
    file: 'test/verifier/dishonest-operator/every-byte.large.test.ts',
    share: 1 / 4,
    subject: ['verifier-cli/src', 'schemas'],
  },
  'flipped bytes before the signature': {
    file: 'test/verifier/dishonest-operator/every-byte.large.test.ts',
    share: 1 / 4,
    subject: ['verifier-cli/src', 'schemas'],
  },
  'flipped bytes of a promise': {
    file: 'test/verifier/dishonest-operator/every-byte.large.test.ts',
    share: 1 / 8,
    subject: ['verifier-cli/src', 'schemas'],
  },
  'forgeries by hand': {
    file: 'test/verifier/by-hand-forgeries.large.test.ts',
    share: 1 / 16,
    subject: ['verifier-cli/by-hand', 'verifier-cli/src', 'schemas/evidence'],
  },
  'attacks by hand': {
    file: 'test/verifier/interop.large.test.ts',
    share: 1 / 16,
    subject: ['verifier-cli/by-hand', 'verifier-cli/src', 'schemas/evidence'],
  },
  'mutations of interop cases': {
    file: 'test/verifier/interop.large.test.ts',
    share: 1 / 100,
    subject: [],
  },
  'hostile queries of the panel': {
    file: 'test/api/panel/hostile-input.large.test.ts',
    share: 1 / 8,
    subject: ['src/api/panel', 'schemas/api/panel'],
  },
  'hostile paths of the panel': {
    file: 'test/api/panel/hostile-input.large.test.ts',
    share: 1 / 8,
    subject: ['src/api/panel', 'schemas/api/panel'],
  },
  'hostile sizes of a package': {
    file: 'test/verifier/hostile-size.large.test.ts',
    share: 1 / 6,
    subject: ['verifier-cli/src', 'schemas/evidence'],
  },
  'acts of an operator': {
    file: 'test/verifier/whole-service/operator-acts.large.test.ts',
    share: 1 / 6,
    subject: ['verifier-cli/src', 'src/evidence', 'src/pipeline/sealer', 'src/audit'],
  },
  'random sequences of a visitor': {
    file: 'test/sdk/core/random-sequences.large.test.ts',
    share: 1 / 5,
    subject: ['sdk/core', 'sdk/iab'],
  },
  'the same sequences with each SDK': {
    file: 'test/sdk/same-rules/same-rules.large.test.ts',
    share: 1 / 10,
    subject: ['sdk'],
  },
  'devices that lose requests and end apps': {
    file: 'test/sdk/mobile/offline.large.test.ts',
    share: 1 / 10,
    subject: ['sdk/core', 'sdk/mobile'],
  },
  'pumped texts': {
    file: 'test/api/server/pumped-texts.large.test.ts',
    share: 1 / 32,
    subject: [],
  },
  'private addresses that a page leads to': {
    file: 'test/tenancy/scans/visits.large.test.ts',
    share: 1 / 8,
    subject: ['src/tenancy/scans', 'src/platform/net'],
  },
  'hostile messages of the browser of a scan': {
    file: 'test/tenancy/scans/hostile-answers.db.test.ts',
    share: 3 / 100,
    subject: [],
  },
  'hostile answers to a scan': {
    file: 'test/tenancy/scans/hostile-answers.db.test.ts',
    share: 3 / 100,
    subject: [],
  },
  'answers of hostile servers': {
    file: 'test/platform/net/hostile-answers.db.test.ts',
    share: 3 / 100,
    subject: [],
  },
  'signals that end the service': {
    file: 'test/integration/shutdown.large.test.ts',
    share: 1 / 4,
    subject: ['src/app', 'src/api/server'],
  },
  'signals that end the worker': {
    file: 'test/integration/worker-process.large.test.ts',
    share: 1 / 4,
    subject: ['src/app', 'src/pipeline'],
  },
  'kills under load': {
    file: 'test/integration/crash.large.test.ts',
    share: 1 / 6,
    subject: ['src/app', 'src/pipeline'],
  },
  'other servers': {
    file: 'test/reliability/failover.large.test.ts',
    share: 1 / 3,
    subject: ['src/pipeline', 'src/platform/database', 'src/app'],
  },
  'histories on many sessions': {
    file: 'test/reliability/simulation/simulation.large.test.ts',
    share: 1 / 8,
    subject: ['src/pipeline', 'src/erasure'],
  },
  'full disks': {
    file: 'test/reliability/full-disk.large.test.ts',
    share: 1 / 2,
    subject: ['src/pipeline', 'src/platform/database'],
  },
  'faults of records': {
    file: 'test/reliability/records.large.test.ts',
    share: 1 / 4,
    subject: ['src/pipeline/admission', 'src/pipeline/relay', 'src/pipeline/projector', 'src/pipeline/event-log'],
  },
  'faults of batches': {
    file: 'test/reliability/seals.large.test.ts',
    share: 1 / 4,
    subject: ['src/pipeline/sealer', 'src/pipeline/ledger'],
  },
  'faults of roll-ups': {
    file: 'test/reliability/roll-ups.large.test.ts',
    share: 1 / 4,
    subject: ['src/pipeline/sealer', 'src/pipeline/ledger'],
  },
  'faults of time stamps': {
    file: 'test/reliability/stamps.large.test.ts',
    share: 1 / 4,
    subject: ['src/pipeline/stamper', 'src/timestamping'],
  },
  'faults of erasures and exports': {
    file: 'test/reliability/persons.large.test.ts',
    share: 1 / 4,
    subject: ['src/erasure', 'src/evidence/exports'],
  },
  'flipped bytes of a cosignature': {
    file: 'test/verifier/witnesses.large.test.ts',
    share: 1 / 4,
    subject: ['verifier-cli/src', 'schemas/evidence'],
  },
  'flipped bytes of a time stamp': {
    file: 'test/rfc3161/every-byte.large.test.ts',
    share: 1 / 4,
    subject: ['schemas/rfc3161', 'schemas/crypto'],
  },
  'packages changed at random': {
    file: 'test/verifier/by-hand-forgeries.large.test.ts',
    share: 1 / 8,
    subject: ['verifier-cli/by-hand', 'verifier-cli/src', 'schemas/evidence'],
  },
  'changed bytes of a line': {
    file: 'test/format/consent-lines.large.test.ts',
    share: 1 / 4,
    subject: ['schemas/evidence', 'schemas/json'],
  },
  'days of the other roles': {
    file: 'test/dashboard/roles.large.test.ts',
    share: 1 / 8,
    subject: ['dashboard/src', 'src/api/panel'],
  },
} as const satisfies Readonly<Record<string, SweepPlan>>;

interface SweepPlan {
  readonly file: string;
  /** Of the cases, in `npm run test:all`. */
  readonly share: number;
  /** Folders whose change lets CI run all cases; none for searches at random, which have no last case. */
  readonly subject: readonly string[];
}

/** Files with tests that run only there, because they install large programs first. */
export const INSTALLING: readonly string[] = [
  'test/api/openapi/generated-clients.large.test.ts',
  'test/sdk/react/empty-folder.large.test.ts',
  'test/sdk/react/pages.large.test.ts',
];

export type Sweep = keyof typeof SWEEPS;

const isSweep = (name: string): name is Sweep => Object.hasOwn(SWEEPS, name);
const SWEEP_NAMES: readonly Sweep[] = Object.keys(SWEEPS).filter(isSweep);

/** Whether this run tries all cases of every sweep. */
export const isExhaustive = (): boolean => process.env.TEST_LANE === 'exhaustive';

/** The least share of each sweep in CI. */
const CI_SHARE = 1 / 7;

/** The sweeps whose subject is among some changed files. @param files relative to the repository */
export function sweepsTouchedBy(files: readonly string[]): readonly Sweep[] {
  return SWEEP_NAMES.filter((sweep) =>
    SWEEPS[sweep].subject.some((folder) => files.some((file) => file.startsWith(`${folder}/`))),
  );
}

/**
 * The share of the cases that this run tries. `SWEEPS_IN_FULL` names the sweeps that CI tries in full, a
 * line each; outside of CI it is not set.
 */
function shareOf(sweep: Sweep): number {
  const { SWEEPS_IN_FULL: inFull } = process.env;
  if (isExhaustive() || inFull?.split('\n').includes(sweep)) return 1;
  return inFull === undefined ? SWEEPS[sweep].share : Math.max(SWEEPS[sweep].share, CI_SHARE);
}

/**
 * Chooses the cases of a sweep that this run tries: all of them, or a share. The seed decides about
 * each case alone, so that a case that is added changes nothing for the others.
 * @param group of a sweep that tries the same cases with each of several things: the thing
 * @returns at least one case, in their order
 */
export function sampled<T>(sweep: Sweep, cases: readonly T[], group = ''): readonly T[] {
  const share = shareOf(sweep);
  if (share === 1) return cases;
  const draws = cases.map((one, index) => ({ one, drawn: drawOf(sweep, `${group}${index}`) }));
  const chosen = draws.filter(({ drawn }) => drawn < share);
  return (chosen.length > 0 ? chosen : draws.toSorted((a, b) => a.drawn - b.drawn).slice(0, 1)).map(({ one }) => one);
}

/**
 * Whether this run tries a case of a sweep whose cases are tests of their own (`caseOf`). Those that it
 * does not try are listed as skipped.
 */
export const isTried = (sweep: Sweep, name: string): boolean => drawOf(sweep, name) < shareOf(sweep);

/** @returns from 0 to 1 */
function drawOf(sweep: Sweep, one: string): number {
  const digest = createHash('sha256').update(`${process.env.TEST_SEED} ${sweep} ${one}`).digest();
  return digest.readUInt32BE() / 2 ** 32;
}
