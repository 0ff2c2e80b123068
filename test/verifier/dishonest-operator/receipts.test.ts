import { describe, expect, test } from 'vitest';
import { choose, type Draft, draftOf, packed } from './export.js';
import { hex, sha256 } from './primitives.js';
import { bent, type ReceiptOptions, receiptOf } from './receipt.js';
import { TimeAuthority } from './time-authority.js';
import { honestLedger, notPassed, verify } from './verification.js';
import { eventOf, WORLDS } from './world.js';

const authority = new TimeAuthority();
const ledger = honestLedger(WORLDS.small, authority);

async function problems(label: string, options: ReceiptOptions = {}) {
  const report = await verify(receiptOf(ledger, label, options), ledger.plan, authority);
  return { verdict: report.verdict, problems: notPassed(report) };
}
const VALID = { verdict: 'valid', problems: {} };
const FAILED = { verdict: 'invalid', problems: { 'disclosure.person': 'fail' } };

describe('a receipt', () => {
  test.each(['alice 1', 'alice 2', 'bob 3', 'alice 4'])('of %s that opens its person tag is valid', async (label) => {
    expect(await problems(label)).toEqual(VALID);
    expect(await problems(label, { disclose: 'all' })).toEqual(VALID);
  });

  test('without personal values opens nothing and is valid', async () => {
    expect(await problems('alice 2', { disclose: 'none' })).toEqual(VALID);
    expect(await problems('alice 2', { disclose: ['user_agent'] })).toEqual(VALID);
  });

  test('after a change of the keys is valid by the old key and by the new one, and not without the announcement', async () => {
    const rotated = honestLedger(WORLDS.rotated, authority);
    const { first, next } = rotated.plan.keys;
    const receipt = receiptOf(rotated, 'alice 4');
    for (const key of [first, next])
      expect((await verify(receipt, rotated.plan, authority, { ledgerKeys: [key] })).verdict).toBe('valid');
    const without = receiptOf(rotated, 'alice 4', {
      draft: (draft) => {
        draft.entries = draft.entries.filter(({ leaf }) => leaf.event.type !== 'LedgerKeyAnnounced.v1');
      },
    });
    expect(notPassed(await verify(without, rotated.plan, authority))).toMatchObject({
      'completeness.policies': 'fail',
      'ledger.key': 'fail',
    });
  });

  test('that names the person without opening the tag is indeterminate', async () => {
    const { verdict, problems: found } = await problems(
      'alice 2',
      bent('alice 2', (line) => delete line.person),
    );
    expect(verdict).toBe('indeterminate');
    expect(found).toEqual({ 'disclosure.person': 'indeterminate' });
  });

  const other = hex(sha256('id of nobody'));
  test.each<readonly [string, (person: { id: string; n: number }) => void]>([
    ['another id', (person) => Object.assign(person, { id: other })],
    ['the number before', (person) => Object.assign(person, { n: person.n - 1 })],
    ['the number after', (person) => Object.assign(person, { n: person.n + 1 })],
    ['a number above the revision', (person) => Object.assign(person, { n: 1000 })],
  ])('with %s is invalid', async (_, change) => {
    const options = bent('alice 3', ({ person }) => change(person ?? { id: '', n: 0 }));
    expect(await problems('alice 3', options)).toEqual(FAILED);
  });

  test('that opens the tag without naming the person is invalid', async () => {
    const options = bent('alice 2', (line) => Object.assign(line, { disclosures: [] }));
    expect(await problems('alice 2', options)).toEqual(FAILED);
  });

  test('needs no file of the configuration, because its entry has the text', async () => {
    const { site_config_hash: hash } = eventOf(ledger.plan, 'alice 2').record;
    const without = { draft: (draft: Draft) => void draft.files.delete(`notices/${String(hash)}`) };
    expect(await problems('alice 2', without)).toEqual(VALID);
    const draft = draftOf(ledger, {}, choose(ledger, {}));
    without.draft(draft);
    const report = await verify(packed(draft), ledger.plan, authority);
    expect(notPassed(report)).toMatchObject({ 'document.configuration': 'fail' });
  });

  test('needs the file of the text', async () => {
    const { document_hash: hash } = eventOf(ledger.plan, 'alice 2').record;
    const { verdict } = await problems('alice 2', {
      draft: (draft) => void draft.files.delete(`notices/${String(hash)}`),
    });
    expect(verdict).toBe('invalid');
  });
});
