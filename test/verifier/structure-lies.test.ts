import { describe, expect, test } from 'vitest';
import { Contradiction } from '../../schemas/evidence/contradiction.js';
import { RunCounts } from '../../verifier-cli/src/batches/run-counts.js';
import { verifyContradiction } from '../../verifier-cli/src/compare/contradiction.js';
import { contradictoryRuns } from '../../verifier-cli/src/compare/runs-problem.js';
import { en } from '../../verifier-cli/src/i18n/en/index.js';
import { terminalReport, type VerifyOptions } from '../../verifier-cli/src/index.js';
import { compareFiles, proofFrom } from './comparison.js';
import { choose, draftOf, packed, type Request } from './dishonest-operator/export.js';
import { leaveOut } from './dishonest-operator/forgery.js';
import { REQUESTS } from './dishonest-operator/honest-requests.js';
import {
  type Ledger,
  type LedgerLies,
  makeLedger,
  type Plan,
  type Run,
  sealedAt,
} from './dishonest-operator/ledger.js';
import { drawing } from './dishonest-operator/random-changes.js';
import { receiptOf } from './dishonest-operator/receipt.js';
import { TimeAuthority } from './dishonest-operator/time-authority.js';
import { honestPackage, verify } from './dishonest-operator/verification.js';
import {
  consentId,
  consentsOf,
  makePlan,
  noticesOf,
  POLICY_STREAM,
  policy,
  SITE,
  stateChange,
  WORLDS,
} from './dishonest-operator/world.js';

/*
 * A roll-up that leaves something out lies to readers of one file. Another file of the ledger shows it
 * (docs/evidence-format.md §12).
 */

const authority = new TimeAuthority();
const ROLL_UP = 127;
/** Size of a checkpoint over the last batch under the roll-up that has events of the site. */
const EARLY = 125;

/** The site ends below the first roll-up. */
function endedPlan(change: (plan: Plan) => void = () => undefined): Plan {
  const plan = makePlan(WORLDS.rolled);
  for (const number of plan.batches.keys()) if (number > ROLL_UP) plan.batches.delete(number);
  plan.stamps = [100, EARLY, 200, 280].map((size) => ({ size, time: plan.start + (size - 1) * 10_000 + 3000 }));
  change(plan);
  return plan;
}

const cut = (stream: string, more: LedgerLies = {}): LedgerLies => ({
  ...more,
  runs: (honest, number) => {
    let start = 0;
    return honest.map((one): Run => {
      const last = number === ROLL_UP && one.stream === stream ? one.last - 1 : one.last;
      const run = { ...one, start, last };
      start += last - one.first + 1;
      return run;
    });
  },
});

/** A package as of a checkpoint, without these records. */
function without(ledger: Ledger, labels: readonly string[], request: Request = {}, size?: number): Uint8Array {
  const choice = choose(ledger, request, size);
  leaveOut(choice, ...labels);
  return packed(draftOf(ledger, request, choice));
}

interface Lie {
  readonly plan: Plan;
  readonly lies: LedgerLies;
  /** Labels of what the later package leaves out. */
  readonly hidden: readonly string[];
  readonly request?: Request;
  readonly kind: string;
}

const addPolicies = (plan: Plan): void => {
  plan.batches.set(0, [policy(1, plan.start - 1000)]);
  plan.batches.set(122, [policy(2, sealedAt(plan, 122) - 1000, { seal_within_seconds: 60 })]);
};

const LIES: Readonly<Record<string, Lie>> = {
  'a withdrawal that a roll-up cuts': {
    plan: endedPlan(),
    lies: cut(consentsOf(SITE)),
    hidden: ['carol 2'],
    kind: 'runs',
  },
  'a withdrawal, in a package for another person': {
    plan: endedPlan(),
    lies: cut(consentsOf(SITE)),
    hidden: [],
    request: { person: 'bob' },
    kind: 'runs',
  },
  'a withdrawal, in a package of one record': {
    plan: endedPlan(),
    lies: cut(consentsOf(SITE)),
    hidden: [],
    request: { eventIds: [consentId('alice 1')] },
    kind: 'runs',
  },
  'the retirement of the text that a roll-up cuts': {
    plan: endedPlan((plan) => {
      plan.batches.set(123, [stateChange('Retired', SITE, 1, sealedAt(plan, 123) - 1000)]);
    }),
    lies: cut(noticesOf(SITE)),
    hidden: ['retired 1'],
    kind: 'runs',
  },
  'a policy that a roll-up cuts and later headers do not count': {
    plan: endedPlan(addPolicies),
    lies: cut(POLICY_STREAM, {
      header: (header, number) => void (number >= ROLL_UP && Object.assign(header, { policies: 1 })),
    }),
    hidden: ['policy 2'],
    request: { eventIds: [consentId('alice 1')] },
    kind: 'headers',
  },
  'a roll-up that claims an earlier time than a batch under it': {
    plan: endedPlan(),
    lies: {
      header: (header, number) => {
        if (number >= ROLL_UP)
          header.sealed_at = new Date(Date.parse(String(header.sealed_at)) - 120_000).toISOString();
      },
    },
    hidden: [],
    request: { eventIds: [consentId('alice 1')] },
    kind: 'headers',
  },
};

describe.each(Object.entries(LIES))('%s', (_, { plan, lies, hidden, request = {}, kind }) => {
  const ledger = makeLedger(plan, authority, lies);
  const keys = [plan.keys.first];
  const later = without(ledger, hidden, request);

  test('is in no file by itself', async () => {
    expect((await verify(later, plan, authority)).verdict).toBe('valid');
    expect((await verify(honestPackage(ledger, {}, EARLY), plan, authority)).verdict).toBe('valid');
  });

  test('is proved with the package from before', async () => {
    const proved = await proofFrom(later, honestPackage(ledger, {}, EARLY), keys);
    expect(proved.kind).toBe(kind);
    expect(proved.statement).toContain(plan.origin);
  });

  test('is proved with the receipt of a record from before', async () => {
    const file = receiptOf(ledger, 'carol 2', { size: EARLY });
    const comparison = await compareFiles(later, file, keys);
    expect(comparison.outcome).toBe('contradiction');
  });
});

describe('a package that was cut by its exporter alone', () => {
  const plan = makePlan(WORLDS.small);
  const ledger = makeLedger(plan, authority);
  const keys = [plan.keys.first];

  test.each<readonly [string, Request, readonly string[], string]>([
    ['the consents', {}, ['alice 4'], 'alice 4'],
    ['the notices, in a package for a person', { person: 'alice' }, ['activated 2'], 'alice 3'],
  ])('is proved false about %s by a receipt', async (_, request, hidden, label) => {
    const zip = without(ledger, hidden, request);
    expect((await verify(zip, plan, authority)).verdict).toBe('invalid');
    const { kind, statement } = await proofFrom(zip, receiptOf(ledger, label), keys);
    expect(kind).toBe('claims');
    expect(statement).toContain('as the whole of');
  });

  test('is not proved false by events after its checkpoint, nor without its signature', async () => {
    const early = honestPackage(ledger, {}, 9);
    expect((await compareFiles(early, receiptOf(ledger, 'alice 4'), keys)).outcome).toBe('extends');
    const choice = choose(ledger, {});
    leaveOut(choice, 'alice 4');
    const unsigned = packed(draftOf(ledger, {}, choice), (manifest) => Object.assign(manifest, { exported_by: 'x' }));
    const { file } = await proofFrom(unsigned, receiptOf(ledger, 'alice 4'), keys);
    const proof = JSON.parse(JSON.stringify(file));
    const changed = { ...proof, manifest: String(proof.manifest).replace('"exported_by":"x"', '"exported_by":"y"') };
    expect((await verifyContradiction(Contradiction.parse(changed), keys, new Date())).outcome).toBe('not-proved');
  });
});

describe('a proof that was changed proves nothing', () => {
  const { plan, lies, hidden } = LIES['a withdrawal that a roll-up cuts'] ?? {
    plan: endedPlan(),
    lies: {},
    hidden: [],
  };
  const ledger = makeLedger(plan, authority, lies);
  const keys = [plan.keys.first];

  test('of two runs', async () => {
    const { file } = await proofFrom(without(ledger, hidden), honestPackage(ledger, {}, EARLY), keys);
    const proof = JSON.parse(JSON.stringify(file));
    const outcome = async (changed: object): Promise<string> =>
      (await verifyContradiction(Contradiction.parse({ ...proof, ...changed }), keys, new Date())).outcome;
    expect(await outcome({})).toBe('proved');
    expect(await outcome({ second: proof.first })).toBe('not-proved');
    const run = { ...proof.second.run, last: proof.second.run.last + 1 };
    expect(await outcome({ second: { ...proof.second, run } })).toBe('not-proved');
    expect(await outcome({ second: { ...proof.second, index: proof.second.index + 1 } })).toBe('not-proved');
    expect(await outcome({ second: { ...proof.second, path: proof.first.path } })).toBe('not-proved');
    expect(await outcome({ second: { ...proof.second, hashes: [] } })).toBe('not-proved');
    const stranger = [plan.keys.next];
    expect((await verifyContradiction(Contradiction.parse(proof), stranger, new Date())).outcome).toBe('not-proved');
    expect((await verifyContradiction(Contradiction.parse(proof), [], new Date())).outcome).toBe('indeterminate');
  });
});

test('two runs of one stream in one batch are proved by packages that show one each', async () => {
  const plan = makePlan(WORLDS.small);
  const number = WORLDS.small.from;
  const lies: LedgerLies = {
    runs: (honest, at) => {
      const run = honest.find(({ stream }) => stream === consentsOf(SITE));
      if (at !== number || run === undefined) return honest;
      // The tree is not sorted: each run is between neighbours of which it is not out of order.
      const place = honest.indexOf(run);
      const [below, above] = [honest.slice(0, place), honest.slice(place + 1)];
      let start = 0;
      return [{ ...run, last: run.first }, ...above, ...below, { ...run, first: run.last }].map((one) => {
        const moved = { ...one, start };
        start += one.last - one.first + 1;
        return moved;
      });
    },
  };
  const ledger = makeLedger(plan, authority, lies);
  const comparison = await compareFiles(
    honestPackage(ledger, { eventIds: [consentId('alice 1')] }),
    honestPackage(ledger, { eventIds: [consentId('nobody 1')] }),
    [plan.keys.first],
  );
  expect(comparison.outcome).toBe('contradiction');
});

describe('no honest file is accused', () => {
  const withPolicies = (plan: Plan): void => {
    plan.batches.set(0, [policy(1, plan.start - 1000)]);
  };
  const worlds = {
    ...Object.fromEntries(Object.entries(WORLDS).map(([name, world]) => [name, makePlan(world)])),
    ended: endedPlan(addPolicies),
    policies: Object.assign(makePlan(WORLDS.small), {}),
  };
  withPolicies(worlds.policies);

  test.each(Object.entries(worlds))('of the world %s, whatever is compared', async (_, plan) => {
    const ledger = makeLedger(plan, authority);
    const keys = [plan.keys.first];
    const files = [
      ...plan.stamps.map(({ size }) => honestPackage(ledger, {}, size)),
      ...Object.values(REQUESTS).map((request) => honestPackage(ledger, request)),
      ...['alice 1', 'carol 2'].map((label) => receiptOf(ledger, label)),
    ];
    const [first = new Uint8Array(), ...others] = files;
    for (const file of others) {
      expect((await compareFiles(first, file, keys)).outcome).not.toBe('contradiction');
      expect((await compareFiles(files[plan.stamps.length - 1] ?? first, file, keys)).outcome).not.toBe(
        'contradiction',
      );
    }
  });
});

/** The leaves of a ledger of this size, and the run that each has of a stream with these events in its batches. */
function runsOf(events: ReadonlyMap<number, number>, size: number) {
  const counts: number[] = [0];
  for (let number = 0; number < size; number += 1)
    counts.push((counts[number] ?? 0) + ((number + 1) % 128 === 0 ? 0 : (events.get(number) ?? 0)));
  return Array.from({ length: size }, (_, number) => {
    const period = (number + 1) % 16_384 === 0 ? 16_384 : (number + 1) % 128 === 0 ? 128 : 1;
    const from = number + 1 - period;
    const first = counts[from] ?? 0;
    return { from, to: number, number, first, last: (counts[number + 1] ?? 0) - 1 };
  });
}

test('the runs of honest roll-ups of both levels agree, and a changed one contradicts a run under it', () => {
  const draw = drawing(32);
  const size = 2 * 16_384 + 300;
  const events = new Map(Array.from({ length: 2000 }, () => [draw(size), 1 + draw(3)] as const));
  const all = runsOf(events, size);
  const shown = all.filter(({ number }) => draw(40) === 0 || (number + 1) % 128 === 0);
  const counts = new RunCounts<number>();
  for (const run of shown) {
    const isEmpty = run.last < run.first;
    expect(isEmpty ? counts.addNone(run, run.number) : counts.add(run, run.number)).toBeNull();
  }
  const runs = shown.filter(({ first, last }) => first <= last);
  expect(contradictoryRuns(runs)).toBeNull();
  const rollUps = runs.filter(({ from, to, first, last }) => to > from && last > first);
  expect(rollUps.length).toBeGreaterThan(100);
  for (const one of rollUps.filter((_, i) => i % 17 === 0)) {
    const under = all.filter(
      ({ from, to, first, last }) => from === to && from >= one.from && to < one.to && first <= last,
    );
    for (const bent of [
      { ...one, last: one.last - 1 },
      { ...one, first: one.first + 1 },
    ])
      expect(contradictoryRuns([...under, bent])).not.toBeNull();
  }
});

test('the first lines of a report name the person, or say that the package does not', async () => {
  const ledger = makeLedger(makePlan(WORLDS.small), authority);
  const linesOf = async (request: Request, options: Partial<VerifyOptions> = {}): Promise<string> => {
    const zip = packed(draftOf(ledger, request, choose(ledger, request)));
    const report = await verify(zip, ledger.plan, authority, options);
    return terminalReport(report, en).split('\n').slice(0, 2).join('\n');
  };
  expect(await linesOf({ person: 'alice' }, { person: 'alice' })).toMatch(
    /^VALID, .*\nPerson: alice .*as you asked\.$/,
  );
  const named = await linesOf({ person: 'alice' });
  expect(named).toMatch(/^VALID, .*\nPerson: alice \(visitor_id, as the records name the person\)\.$/);
  const withheld = await linesOf({ person: 'alice', disclose: 'none' });
  expect(withheld).toMatch(/^INDETERMINATE, .*\nPerson: not shown\./);
  expect(await linesOf({ person: 'bob' }, { person: 'alice' })).toMatch(/^INVALID, .*\nPerson: bob /);
});
