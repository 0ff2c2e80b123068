import { describe, expect, test } from 'vitest';
import type { VerifyOptions } from '../../../verifier-cli/src/index.js';
import { choose, type Draft, draftOf, packed, type Request } from './export.js';
import { dropped, earlierEnd, publish } from './forged-promises.js';
import { addStamps, LOWERED, SECOND_AUTHORITY } from './forged-quorum.js';
import { cosign, demandWitnesses, requireWitnesses, WITNESSES } from './forged-witnesses.js';
import { cosignature } from './keys.js';
import { type Ledger, makeLedger, type Plan } from './ledger.js';
import { type PromiseTerms, promiseOf } from './promise.js';
import { receiptOf } from './receipt.js';
import { TimeAuthority } from './time-authority.js';
import { honestLedger, notPassed, verify } from './verification.js';
import { consentId, eventOf, makePlan, policy, WORLDS, type WorldOptions } from './world.js';

/*
 * The forgeries with policies, several stamps, promises and witnesses differ from these packages only
 * in the lie.
 */

const authority = new TimeAuthority();

function ledgerWith(world: WorldOptions, change: (plan: Plan) => void): Ledger {
  const plan = makePlan(world);
  change(plan);
  return makeLedger(plan, authority);
}

async function outcome(
  ledger: Ledger,
  options: Partial<VerifyOptions> = {},
  change: (draft: Draft) => void = () => undefined,
  request: Request = {},
) {
  const draft = draftOf(ledger, request, choose(ledger, request));
  change(draft);
  const report = await verify(packed(draft), ledger.plan, authority, options);
  return { verdict: report.verdict, problems: notPassed(report), promises: report.promises, newest: report.newest };
}
const VALID = { verdict: 'valid', problems: {} };

describe.each(Object.entries(WORLDS))('in the world %s', (_, world) => {
  const last = world.size - 1;
  const ledger = ledgerWith(world, (plan) => {
    plan.batches.set(0, [policy(1, plan.start - 1000, { seal_within_seconds: 10, stamp_within_seconds: 3000 })]);
    // An announcement of keys counts as an event of the stream.
    const number = 'rotateAt' in world ? 3 : 2;
    plan.batches.set(last, [policy(number, plan.start + last * 10_000 - 1000)]);
  });

  test.each([{}, { person: 'alice' }, { eventIds: [consentId('alice 1')] }])(
    'a package with two policies is valid (%o)',
    async (request) => {
      expect(await outcome(ledger, {}, () => undefined, request)).toMatchObject(VALID);
    },
  );
});

describe('in the world small', () => {
  const ledger = honestLedger(WORLDS.small, authority);

  test('a package with stamps of two authorities is valid if both are required', async () => {
    const trustAnchors = [authority.anchor, SECOND_AUTHORITY.anchor];
    const stamp = (draft: Draft): void => addStamps(draft, { by: SECOND_AUTHORITY });
    expect(await outcome(ledger, { trustAnchors, requireStamps: 2 }, stamp)).toMatchObject(VALID);
  });

  test('a policy that demands two authorities is kept by two', async () => {
    const two = ledgerWith(WORLDS.small, (plan) => {
      plan.batches.set(0, [policy(1, plan.start - 1000, { stamps: 2 })]);
    });
    const trustAnchors = [authority.anchor, SECOND_AUTHORITY.anchor];
    const stamp = (draft: Draft): void => addStamps(draft, { by: SECOND_AUTHORITY });
    expect(await outcome(two, { trustAnchors }, stamp)).toMatchObject(VALID);
  });

  test.each(Object.entries(LOWERED))('a lowered number of authorities counts: %s', async (_, { plan, draft }) => {
    const lowered = ledgerWith(WORLDS.small, plan);
    const trustAnchors = [authority.anchor, SECOND_AUTHORITY.anchor];
    for (const request of [{}, { person: 'alice' }, { eventIds: [consentId('alice 4')] }])
      expect(await outcome(lowered, { trustAnchors }, draft, request)).toMatchObject(VALID);
    for (const label of ['alice 1', 'alice 4']) {
      const receipt = receiptOf(lowered, label, { draft });
      const report = await verify(receipt, lowered.plan, authority, { trustAnchors });
      expect(notPassed(report)).toEqual({});
    }
  });

  test.each([
    [2, 2, null],
    [1, 1, null],
    [0, 0, null],
    [2, 1, 1],
  ] as const)(
    'the policy demands %i witnesses: %i cosigned, and the relying party requires %s',
    async (demanded, cosigned, required) => {
      const { a, b } = WITNESSES;
      const seconds = Date.parse('2026-03-02T08:05:00.000Z') / 1000;
      const change = (draft: Draft): void => {
        const lines = (text: string): string =>
          [a, b]
            .slice(0, cosigned)
            .map((key) => cosignature(key, text, seconds))
            .join('');
        if (cosigned > 0) cosign(draft, lines);
      };
      const witnessed = ledgerWith(WORLDS.small, demandWitnesses(demanded));
      const found = await outcome(witnessed, requireWitnesses(required, a, b), change);
      expect(found).toMatchObject({
        ...VALID,
        newest: {
          checkpoint: 16,
          authorities: 1,
          authorities_demanded: 1,
          witnesses: cosigned,
          witnesses_demanded: demanded,
        },
      });
    },
  );

  test('a package with the cosignatures of two required witnesses is valid', async () => {
    const { a, b } = WITNESSES;
    const seconds = Date.parse('2026-03-02T08:05:00.000Z') / 1000;
    const change = (draft: Draft): void =>
      cosign(draft, (text) => cosignature(a, text, seconds) + cosignature(b, text, seconds + 1));
    expect(await outcome(ledger, requireWitnesses(2, a, b), change)).toMatchObject(VALID);
  });
});

describe('in the world rolled', () => {
  const ledger = honestLedger(WORLDS.rolled, authority);
  const promised = (terms: PromiseTerms = {}) => ({
    promises: [{ file: 'promise.json', promise: promiseOf(ledger.plan, 'alice 1', terms) }],
  });

  test.each<readonly [string, Request]>([
    ['the whole site', {}],
    ['the person', { person: 'alice' }],
    ['its event id', { eventIds: [consentId('alice 1')] }],
  ])('a promise is kept by the package for %s', async (_, request) => {
    const found = await outcome(ledger, promised(), () => undefined, request);
    expect(found).toMatchObject({ ...VALID, promises: [{ outcome: 'kept' }] });
  });

  test('a promise is kept by the receipt of its record', async () => {
    const report = await verify(receiptOf(ledger, 'alice 1'), ledger.plan, authority, promised());
    expect(notPassed(report)).toEqual({});
    expect(report.promises).toMatchObject([{ outcome: 'kept' }]);
  });

  test('a shorter delay that is published after a promise accuses no ledger', async () => {
    const plan = makePlan(WORLDS.rolled);
    const created = Date.parse(String(eventOf(plan, 'alice 1').record.created_at));
    const promise = promiseOf(plan, 'alice 1', { sealedBefore: new Date(created + 1_600_000).toISOString() });
    dropped(plan);
    // The service promises by a policy that no time stamp covers yet.
    publish(plan, 1, 20, { seal_within_seconds: 1600 });
    publish(plan, 2, 150, { seal_within_seconds: 1600, stamp_within_seconds: 60 });
    const strict = makeLedger(plan, authority, { header: earlierEnd });
    const found = await outcome(strict, { promises: [{ file: 'promise.json', promise }] });
    expect(found.promises).toMatchObject([{ outcome: 'overdue' }]);
    expect(found.verdict).toBe('indeterminate');
  });

  test('a promise that is not due accuses no ledger, and one that is overdue makes the package indeterminate', async () => {
    const eventId = consentId('of another time');
    const terms = {
      eventId,
      createdAt: '2026-03-02T08:45:00.000Z',
      sealedBefore: '2026-03-02T08:55:00.000Z',
    };
    const early = { ...promised(terms), at: new Date('2026-03-02T08:59:00.000Z') };
    expect(await outcome(ledger, early)).toMatchObject({ ...VALID, promises: [{ outcome: 'not-due' }] });
    const late = await outcome(ledger, { ...early, at: new Date('2026-03-02T09:01:00.000Z') });
    expect(late).toMatchObject({
      verdict: 'indeterminate',
      problems: { 'promise.kept': 'indeterminate' },
      promises: [{ outcome: 'overdue', due: '2026-03-02T08:55:00.000Z' }],
    });
  });
});

test('a policy that was stamped late makes no record doubtful, and a warning says so', async () => {
  const ledger = ledgerWith(WORLDS.small, (plan) => {
    plan.batches.set(0, [policy(1, plan.start - 86_400_000)]);
  });
  const draft = draftOf(ledger, {}, choose(ledger, {}));
  const report = await verify(packed(draft), ledger.plan, authority);
  expect({ verdict: report.verdict, problems: notPassed(report) }).toEqual(VALID);
  expect(JSON.stringify(report.warnings)).toContain('Policy 1 of the ledger was stamped 1 d after its claimed time.');
});

test('a report states what the rules allow and a reader may not expect', async () => {
  const ledger = ledgerWith(WORLDS.small, (plan) => {
    const created = Date.parse(String(eventOf(plan, 'bob 2').record.created_at));
    eventOf(plan, 'activated 2').record.created_at = new Date(created + 60_000).toISOString();
    const { record } = eventOf(plan, 'nobody 2');
    const until = new Date(Date.parse(String(record.created_at)) + 180 * 86_400_000).toISOString();
    Object.assign(record, { decision: 'rejected', valid_until: until, ask_again_at: until });
  });
  const report = await verify(packed(draftOf(ledger, {}, choose(ledger, {}))), ledger.plan, authority);
  expect({ verdict: report.verdict, problems: notPassed(report) }).toEqual(VALID);
  expect(report.warnings.first.map(({ code, values }) => [code, values])).toEqual([
    // `alice 4` is a withdrawal.
    ['refusal-permits', { records: 2, categories: 'analytics' }],
    ['text-after-consent', { records: 5 }],
    ['erased-soon', { records: 1 }],
  ]);
});
