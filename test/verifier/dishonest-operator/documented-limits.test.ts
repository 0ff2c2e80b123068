import { describe, expect, test } from 'vitest';
import type { Draft } from './export.js';
import { LATE, ofBefore } from './forged-scopes.js';
import { Forge, type Forgery, leaveOut, lineOf } from './forgery.js';
import { tiledRuns } from './ledger.js';
import { sha256 } from './primitives.js';
import { TimeAuthority } from './time-authority.js';
import { notPassed, verify } from './verification.js';
import { batchOf, consentId, consentsOf, eventOf, policy, SITE, WORLDS } from './world.js';

/*
 * docs/evidence-format.md §1 and §6 state what one package cannot show. A ledger that keeps a record
 * out of its sorted trees can hide it, but never present it.
 */

const forge = new Forge(new TimeAuthority());
type Limit = Pick<Forgery, 'world' | 'plan' | 'lies' | 'request' | 'receipt'>;

async function verdictOf(limit: Limit, change: Pick<Forgery, 'choice' | 'draft'> = {}) {
  const { zip, plan } = forge.make({
    ...limit,
    ...change,
    name: '',
    point: '',
    check: 'batch.tags',
    verdict: 'invalid',
  });
  const report = await verify(zip, plan, forge.authority);
  return { verdict: report.verdict, problems: notPassed(report) };
}

const ALICE_4 = WORLDS.small.from + 9;

test('a record whose stream is kept out of streams_root can be hidden, but not presented', async () => {
  const limit: Limit = {
    lies: { runs: (runs, number) => (number === ALICE_4 ? [] : runs), header: emptyHeader },
  };
  const hidden = await verdictOf(limit, { choice: (choice) => leaveOut(choice, 'alice 4') });
  expect(hidden).toEqual({ verdict: 'valid', problems: {} });
  const shown = await verdictOf(limit);
  expect(shown).toMatchObject({ verdict: 'invalid', problems: { 'batch.streams': 'fail' } });
});

/** A batch without runs can only claim to be empty. */
function emptyHeader(header: Record<string, unknown>, number: number): void {
  if (number === ALICE_4)
    Object.assign(header, { count: 0, root: header.streams_root, tags_count: 0, tags_root: header.streams_root });
}

test('a record whose tag is kept out of tags_root can be hidden, but not presented', async () => {
  const limit: Limit = {
    request: { person: 'alice' },
    lies: { tags: (tags, number) => (number === ALICE_4 ? [] : tags) },
  };
  const hidden = await verdictOf(limit, {
    choice: (choice) => {
      leaveOut(choice, 'alice 4');
      choice.records -= 1;
    },
  });
  expect(hidden).toEqual({ verdict: 'valid', problems: {} });
  const shown = await verdictOf(limit);
  expect(shown).toMatchObject({ verdict: 'invalid', problems: { 'batch.tags': 'fail' } });
});

test('a roll-up that omits the end of a stream hides it, but the records cannot be presented', async () => {
  const world = 'rolled';
  const cut = ['bob 2', 'alice 3', 'nobody 2', 'bob 3', 'alice 4'];
  const limit: Limit = {
    world,
    plan: (plan) => {
      plan.batches.delete(batchOf(plan, 'of carol 1'));
    },
    lies: {
      runs: (runs, number) =>
        number === 255 ? tiledRuns(runs.filter(({ stream }) => stream !== consentsOf(SITE))) : runs,
      tags: (tags, number) => (number === 255 ? tags.slice(cut.length) : tags),
    },
  };
  const hidden = await verdictOf(limit, { choice: (choice) => leaveOut(choice, ...cut) });
  expect(hidden).toEqual({ verdict: 'valid', problems: {} });
  const shown = await verdictOf(limit);
  expect(shown).toMatchObject({ verdict: 'invalid', problems: { 'batch.streams': 'fail' } });
});

test('a header that counts too few policies hides one from receipts, but from no package', async () => {
  const limit: Limit = {
    plan: (plan) => {
      for (const [i, number] of [0, 2].entries())
        plan.batches.set(number, [policy(i + 1, plan.start + number * 10_000 - 1000)]);
    },
    lies: { header: (header, number) => void (number >= 2 && Object.assign(header, { policies: 1 })) },
  };
  const hidden = await verdictOf({ ...limit, receipt: { label: 'alice 1' } }, { draft: withoutNewest });
  expect(hidden).toEqual({ verdict: 'valid', problems: {} });
  expect(await verdictOf({ ...limit, receipt: { label: 'alice 1' } })).toMatchObject(MISCOUNTED);
  expect(await verdictOf(limit)).toMatchObject(MISCOUNTED);
  expect(await verdictOf(limit, { draft: withoutNewest })).toMatchObject({
    verdict: 'invalid',
    problems: { 'completeness.runs': 'fail' },
  });
});

const MISCOUNTED = { verdict: 'invalid', problems: { 'completeness.policies': 'fail' } };

function withoutNewest(draft: Draft): void {
  draft.entries = draft.entries.filter(({ leaf }) => leaf.event.label !== 'policy 2');
  draft.batches = draft.batches.filter(({ sealed }) => draft.complete.length > 0 || sealed.number !== 2);
  draft.proofs.delete(2);
}

test('a record that gets a tag of another id from the start is in no package for the person', async () => {
  const limit: Limit = {
    request: { person: 'alice' },
    plan: (plan) => {
      eventOf(plan, 'alice 4').person = null;
    },
  };
  expect(await verdictOf(limit)).toEqual({ verdict: 'valid', problems: {} });
});

describe.each(['small', 'rolled'] as const)('an erasure with a random tag (world %s)', (world) => {
  const limit: Limit = {
    world,
    plan: (plan) => {
      eventOf(plan, 'of carol 1').tag = sha256('random tag of an erasure');
    },
  };
  /** Shows the erased record with its values, and leaves out its erasure. */
  const hidden: Pick<Forgery, 'choice' | 'draft'> = {
    choice: (choice) => leaveOut(choice, 'of carol 1'),
    draft: (draft) => {
      const line = lineOf(draft, 'carol 1');
      line.erased = null;
      line.disclosures = line.leaf.event.values.map(({ text }) => text);
    },
  };
  const filtered = { 'an event id': { eventIds: [consentId('carol 1')] }, 'a person': { person: 'carol' } };

  test.each(Object.entries(filtered))('can be left out of the package for %s', async (_, request) => {
    expect(await verdictOf({ ...limit, request }, hidden)).toEqual({ verdict: 'valid', problems: {} });
    const honest = await verdictOf({ world, request }, hidden);
    expect(honest).toMatchObject({ verdict: 'invalid', problems: { 'erasure.absent': 'fail' } });
  });

  test.each(Object.entries(filtered))('cannot be presented in the package for %s', async (_, request) => {
    const shown = await verdictOf({ ...limit, request });
    expect(shown).toMatchObject({ verdict: 'invalid', problems: { 'erasure.proof': 'fail' } });
  });

  test('can neither be presented in a package without a filter, nor left out of it', async () => {
    expect(await verdictOf(limit)).toMatchObject({ verdict: 'invalid', problems: { 'erasure.proof': 'fail' } });
    const left = await verdictOf(limit, hidden);
    expect(left).toMatchObject({ verdict: 'invalid', problems: { 'completeness.runs': 'fail' } });
  });
});

test('a record of the form of before is found only beside a record of an earlier batch that states its scope', async () => {
  const problems = { 'record.format': 'fail' };
  const limit: Limit = ofBefore(LATE, 2);
  expect(await verdictOf(limit)).toMatchObject({ verdict: 'invalid', problems });
  const alone = [{ receipt: { label: 'alice 4' } }, { request: { eventIds: [consentId('alice 4')] } }];
  for (const shown of alone)
    expect(await verdictOf({ ...limit, ...shown })).toEqual({ verdict: 'valid', problems: {} });
  // alice 3 is in the batch of bob 2. Both states of the service could record at that time.
  const sameBatch: Limit = {
    plan: (plan) => {
      ofBefore(LATE, 2, 'alice 3').plan(plan);
      eventOf(plan, 'alice 3').record.decision = 'withdrawn';
    },
  };
  expect(await verdictOf(sameBatch)).toEqual({ verdict: 'valid', problems: {} });
});

test('a record that is not in its batch does not make a later one fail that states less', async () => {
  const limit: Limit = {
    plan: (plan) => {
      for (const label of ['bob 2', 'nobody 2', 'bob 3', 'alice 4']) ofBefore(LATE, 2, label).plan(plan);
    },
  };
  const { problems } = await verdictOf(limit, {
    draft: (draft) => {
      lineOf(draft, 'alice 3').index += 1;
    },
  });
  expect(problems).toMatchObject({ 'entry.inclusion': 'fail' });
  expect(problems['record.format']).toBeUndefined();
  expect((await verdictOf(limit)).problems).toEqual({ 'record.format': 'fail' });
});
