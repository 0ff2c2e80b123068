import { describe, expect, test } from 'vitest';
import { Contradiction } from '../../schemas/evidence/contradiction.js';
import { verifyContradiction } from '../../verifier-cli/src/compare/contradiction.js';
import { compareFiles, proofFrom } from './comparison.js';
import { choose, draftOf, packed } from './dishonest-operator/export.js';
import { leaveOut } from './dishonest-operator/forgery.js';
import { type Ledger, makeLedger, type Plan } from './dishonest-operator/ledger.js';
import { sha256 } from './dishonest-operator/primitives.js';
import { receiptOf } from './dishonest-operator/receipt.js';
import { TimeAuthority } from './dishonest-operator/time-authority.js';
import { honestPackage, verify } from './dishonest-operator/verification.js';
import { consentId, erasure, eventOf, makePlan, SITE, WORLDS } from './dishonest-operator/world.js';

/*
 * An operator that gives one visitor two ids, or misnumbers the records of a person, makes packages that
 * are valid by themselves. A receipt of the person shows it (docs/evidence-format.md §16).
 */

const authority = new TimeAuthority();
const SECOND = `${SITE} alice again`;

function ledgerOf(change: (plan: Plan) => void): Ledger {
  const plan = makePlan(WORLDS.small);
  plan.persons.set(SECOND, sha256('second id of alice'));
  change(plan);
  return makeLedger(plan, authority);
}

/** A ledger in which these records of alice have the second id. */
const withSecondId = (...labels: readonly string[]): Ledger =>
  ledgerOf((plan) => {
    for (const label of labels) eventOf(plan, label).person = SECOND;
  });

const compare = ({ plan }: Ledger, a: Uint8Array, b: Uint8Array, keys = [plan.keys.first]) => compareFiles(a, b, keys);
const proofOf = ({ plan }: Ledger, a: Uint8Array, b: Uint8Array) => proofFrom(a, b, [plan.keys.first]);

async function isValid(file: Uint8Array, { plan }: Ledger): Promise<void> {
  expect((await verify(file, plan, authority)).verdict).toBe('valid');
}

const packageForAlice = (ledger: Ledger): Uint8Array => honestPackage(ledger, { person: 'alice' });

describe('one visitor with two ids', () => {
  test('is proved by a record between two of the other id', async () => {
    const ledger = withSecondId('alice 2');
    const [receipt, zip] = [receiptOf(ledger, 'alice 2'), packageForAlice(ledger)];
    await isValid(receipt, ledger);
    await isValid(zip, ledger);
    const { kind, statement } = await proofOf(ledger, receipt, zip);
    expect(kind).toBe('persons');
    expect(statement).toContain('gave one visitor two ids: revisions 0 and');
  });

  test('is proved the same way if the record has random bytes in place of a tag', async () => {
    const ledger = ledgerOf((plan) => {
      eventOf(plan, 'alice 2').person = null;
    });
    const receipt = receiptOf(ledger, 'alice 2');
    expect((await verify(receipt, ledger.plan, authority)).verdict).toBe('indeterminate');
    expect((await proofOf(ledger, receipt, packageForAlice(ledger))).kind).toBe('persons');
  });

  test('is proved by the two files if the package discloses the first id after the other record was sealed', async () => {
    const ledger = withSecondId('alice 4');
    const found = await compare(ledger, receiptOf(ledger, 'alice 4'), packageForAlice(ledger));
    expect(found).toMatchObject({ outcome: 'contradiction', contradiction: null });
    expect(found.statement).toContain('both files together are the proof');
  });

  test('is proved by two receipts, if the first one was made after the second record was sealed', async () => {
    const ledger = ledgerOf((plan) => {
      eventOf(plan, 'alice 2').person = SECOND;
      plan.stamps = plan.stamps.slice(1);
    });
    const found = await compare(ledger, receiptOf(ledger, 'alice 1'), receiptOf(ledger, 'alice 2'));
    expect(found).toMatchObject({ outcome: 'contradiction', contradiction: null });
  });

  test('is proved by a receipt and a package of the whole site', async () => {
    const ledger = withSecondId('alice 2', 'alice 4');
    const whole = honestPackage(ledger, {});
    expect((await proofOf(ledger, receiptOf(ledger, 'alice 3'), whole)).kind).toBe('persons');
  });

  test('stays open while an erasure could explain it, until a package shows that there was none', async () => {
    const ledger = withSecondId('alice 1');
    const receipt = receiptOf(ledger, 'alice 1');
    const open = await compare(ledger, receipt, packageForAlice(ledger));
    expect(open).toMatchObject({ outcome: 'indeterminate', contradiction: null });
    expect(open.statement).toContain(`get a package of the event id ${consentId('alice 1')}`);
    const later = honestPackage(ledger, { eventIds: [consentId('alice 1')], disclose: ['visitor_id'] });
    await isValid(later, ledger);
    expect((await compare(ledger, later, packageForAlice(ledger))).outcome).toBe('contradiction');
  });

  test('is not proved by a file that the ledger did not sign', async () => {
    const ledger = withSecondId('alice 4');
    const receipt = receiptOf(ledger, 'alice 4');
    const zip = packed(draftOf(ledger, { person: 'alice' }, choose(ledger, { person: 'alice' })), (manifest) => {
      Object.assign(manifest, { files: {} });
    });
    expect((await compare(ledger, receipt, zip)).outcome).toBe('indeterminate');
    expect((await compare(ledger, receipt, packageForAlice(ledger), [])).outcome).toBe('indeterminate');
  });
});

describe('a proof about persons', () => {
  const ledger = withSecondId('alice 2');

  test.each<readonly [string, (proof: Record<string, unknown>) => void]>([
    ['with its records in another order', (proof) => Object.assign(proof, { first: proof.third, third: proof.first })],
    ['without its third record', (proof) => delete proof.third],
    ['with another disclosure', (proof) => Object.assign(Object(proof.second), { disclosure: 'WyJhIiwiYiIsMV0' })],
    ['without the opening of its first record', (proof) => Object.assign(Object(proof.first), { person: null })],
    ['with one record three times', (proof) => Object.assign(proof, { second: proof.first, third: proof.first })],
  ])('%s proves nothing', async (_, change) => {
    const { contradiction } = await compare(ledger, receiptOf(ledger, 'alice 2'), packageForAlice(ledger));
    const proof: Record<string, unknown> = JSON.parse(JSON.stringify(contradiction));
    change(proof);
    const verdict = await verifyContradiction(Contradiction.parse(proof), [ledger.plan.keys.first], new Date());
    expect(verdict.outcome).toBe('not-proved');
  });
});

describe('misnumbered records of one person', () => {
  test('two records with one number are a proof', async () => {
    const ledger = ledgerOf((plan) => {
      plan.persons.set(SECOND, plan.persons.get(`${SITE} alice`) ?? new Uint8Array());
      eventOf(plan, 'alice 2').person = SECOND;
    });
    const { kind, statement } = await proofOf(ledger, receiptOf(ledger, 'alice 2'), packageForAlice(ledger));
    expect(kind).toBe('persons');
    expect(statement).toContain('sealed record 1 of a person');
  });

  test('a number above those that a package states is proved by the two files', async () => {
    const ledger = ledgerOf((plan) => Object.assign(eventOf(plan, 'alice 4'), { number: 6 }));
    const request = { person: 'alice' };
    const choice = choose(ledger, request);
    leaveOut(choice, 'alice 4');
    choice.records -= 1;
    const zip = packed(draftOf(ledger, request, choice));
    await isValid(zip, ledger);
    const receipt = receiptOf(ledger, 'alice 4');
    await isValid(receipt, ledger);
    const found = await compare(ledger, receipt, zip);
    expect(found).toMatchObject({ outcome: 'contradiction', contradiction: null });
    expect(found.statement).toContain('states that a person has 3 records');
  });
});

describe('an honest ledger', () => {
  const honest = ledgerOf(() => undefined);
  const labels = ['alice 1', 'alice 2', 'alice 3', 'alice 4'];

  test.each(labels)('has one history for the receipt of %s and the package for the person', async (label) => {
    const receipt = receiptOf(honest, label);
    expect(['same', 'extends']).toContain((await compare(honest, receipt, packageForAlice(honest))).outcome);
    expect(['same', 'extends']).toContain((await compare(honest, receipt, honestPackage(honest, {}))).outcome);
    for (const other of labels)
      expect(['same', 'extends']).toContain((await compare(honest, receipt, receiptOf(honest, other))).outcome);
  });

  test('has one history for receipts of two persons', async () => {
    const { outcome } = await compare(honest, receiptOf(honest, 'alice 2'), receiptOf(honest, 'bob 1'));
    expect(outcome).toBe('same');
  });

  // Alice's first record was erased, so that her later ones have a new id.
  const renewed = ledgerOf((plan) => {
    for (const label of ['alice 2', 'alice 3', 'alice 4']) eventOf(plan, label).person = SECOND;
    const at = plan.start + 41_000;
    plan.batches.set(4, [...(plan.batches.get(4) ?? []), erasure('of alice 1', SITE, at, consentId('alice 1'))]);
  });

  test('that gave a new id after an erasure contradicts nothing that shows the erasure', async () => {
    const before = receiptOf(renewed, 'alice 1');
    const whole = honestPackage(renewed, {});
    await isValid(whole, renewed);
    expect((await compare(renewed, before, whole)).outcome).toBe('extends');
    const later = honestPackage(renewed, { eventIds: [consentId('alice 1')], disclose: ['visitor_id'] });
    expect(['same', 'extends']).toContain((await compare(renewed, before, later)).outcome);
  });

  test('that gave a new id after an erasure leaves open what a package without the erasure shows', async () => {
    const found = await compare(renewed, receiptOf(renewed, 'alice 1'), receiptOf(renewed, 'alice 2'));
    expect(found).toMatchObject({ outcome: 'indeterminate', contradiction: null });
    expect(found.statement).toContain('right only if the first record was erased before');
  });
});
