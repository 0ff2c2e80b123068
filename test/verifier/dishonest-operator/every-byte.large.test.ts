import { expect, test } from 'vitest';
import { parsePromiseFile } from '../../../verifier-cli/src/index.js';
import { sampled } from '../../support/sweeps.js';
import { isHarmless } from '../harmless-bytes.js';
import { choose, type Draft, draftOf, packed } from './export.js';
import { cosign, requireWitnesses, WITNESSES } from './forged-witnesses.js';
import { cosignature } from './keys.js';
import { makeLedger, type Plan } from './ledger.js';
import { utf8 } from './primitives.js';
import { promiseOf } from './promise.js';
import { receiptOf } from './receipt.js';
import { TimeAuthority } from './time-authority.js';
import { notPassed, verdictOf, verify } from './verification.js';
import { batchOf, makePlan, OTHER_SITE, SITE } from './world.js';

const authority = new TimeAuthority();

/** One record of a person, with the notices that it needs, and a record of another site in its batch. */
function smallPlan(): Plan {
  const plan = makePlan({ size: 3, from: 2, every: 1, stamps: [3] });
  const labels = ['configuration 1', 'published 1', 'activated 1', 'alice 1'];
  for (const [number, events] of plan.batches) {
    const kept = events.filter(
      ({ label, record }) => (record.site_id === SITE && labels.includes(label)) || label === 'elsewhere 1',
    );
    plan.batches.set(number, number <= 2 ? kept : []);
  }
  return plan;
}

const plan = smallPlan();
const ledger = makeLedger(plan, authority);
const request = { person: 'alice' };
const draft = (): Draft => draftOf(ledger, request, choose(ledger, request));

test('the small package for a person is valid, and shows tags of both sites', async () => {
  const report = await verify(packed(draft()), plan, authority);
  expect(notPassed(report)).toEqual({});
  expect(report.verdict).toBe('valid');
  expect(draft().tags.get(batchOf(plan, 'alice 1'))?.length).toBe(2);
  const lines = draft().batches.map(({ streams, hashes }) => [streams, hashes]);
  expect(JSON.stringify(lines)).not.toContain(OTHER_SITE);
});

/** One verification takes milliseconds. `test/verifier/sweep.large.test.ts` flips every byte of a package. */
const STRIDE = 61;

test(`a byte in every ${STRIDE}: flipped, it is found, or no verifier reads it`, async () => {
  const zip = packed(draft());
  const unfound: number[] = [];
  const strides = [...zip.keys()].filter((at) => at % STRIDE === 0);
  for (const at of sampled('flipped bytes of a person’s package', strides)) {
    if (isHarmless(zip, at)) continue;
    const changed = zip.slice();
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    if ((await verdictOf(changed, plan, authority)) === 'valid') unfound.push(at);
  }
  expect(unfound, `of ${zip.length} bytes`).toEqual([]);
});

/** The files that state tags, runs and places, with the distance of the bytes that are flipped. */
const PROVING_FILES = [
  ['tags', 3],
  ['proofs', 3],
  ['batches', 23],
] as const;

test.each(PROVING_FILES)('%s: a byte that is flipped before the manifest is signed is found', async (kind, stride) => {
  const honest = packed(draft());
  const text = Buffer.from(honest).toString('latin1');
  const file = kind === 'batches' ? 'batches.ndjson' : `${kind}/2.ndjson`;
  const start = text.indexOf(file) + file.length;
  const end = text.indexOf('PK\u0003\u0004', start);
  const content = honest.slice(start, end);
  const unfound: number[] = [];
  const strides = [...content.keys()].filter((at) => at % stride === 0);
  for (const at of sampled('flipped bytes before the signature', strides)) {
    const changed = content.slice();
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 7));
    const one = draft();
    if (kind === 'batches') one.batches = [];
    else one[kind].delete(2);
    one.files.set(file, changed);
    if ((await verdictOf(packed(one), plan, authority)) === 'valid') unfound.push(at);
  }
  expect(unfound, `of ${content.length} bytes`).toEqual([]);
});

/** The bytes with another bit at one place. */
function flipped(bytes: Uint8Array, at: number, bit = at % 8): Uint8Array {
  const changed = bytes.slice();
  changed[at] = (changed[at] ?? 0) ^ (1 << bit);
  return changed;
}

test('a byte of a promise that is flipped is found', async () => {
  const zip = packed(draft());
  const bytes = utf8(JSON.stringify(promiseOf(plan, 'alice 1')));
  const outcomeOf = async (file: Uint8Array): Promise<string> => {
    const parsed = parsePromiseFile(file);
    if (!parsed.ok) return 'no promise';
    const promises = [{ file: 'promise.json', promise: parsed.value }];
    const report = await verify(zip, plan, authority, { promises });
    return report.promises.map(({ outcome }) => outcome).join();
  };
  expect(await outcomeOf(bytes)).toBe('kept');
  const unfound: number[] = [];
  for (const at of sampled('flipped bytes of a promise', [...bytes.keys()]))
    if (!['no promise', 'not-verified'].includes(await outcomeOf(flipped(bytes, at)))) unfound.push(at);
  expect(unfound, `of ${bytes.length} bytes`).toEqual([]);
});

test('a byte of the cosignatures that is flipped is found, before the manifest is signed', async () => {
  const { a, b } = WITNESSES;
  const seconds = Date.parse('2026-03-02T08:05:00.000Z') / 1000;
  const verdictWith = async (change: (file: Uint8Array) => Uint8Array): Promise<string> => {
    const one = draft();
    cosign(one, (text) => change(utf8(cosignature(a, text, seconds) + cosignature(b, text, seconds))), one.size);
    return (await verify(packed(one), plan, authority, requireWitnesses(2, a, b))).verdict;
  };
  let length = 0;
  const honest = await verdictWith((file) => {
    length = file.length;
    return file;
  });
  expect(honest).toBe('valid');
  const unfound: number[] = [];
  for (let at = 0; at < length; at += 1)
    if ((await verdictWith((file) => flipped(file, at))) === 'valid') unfound.push(at);
  expect(unfound, `of ${length} bytes`).toEqual([]);
});

/** Distance of the bytes of a receipt that are flipped. All of its bytes take minutes. */
const RECEIPT_STRIDE = 23;

test(`a byte in every ${RECEIPT_STRIDE} of a receipt: flipped, it is found`, async () => {
  const receipt = receiptOf(ledger, 'alice 1');
  expect(await verdictOf(receipt, plan, authority)).toBe('valid');
  const unfound: number[] = [];
  for (let at = 0; at < receipt.length; at += RECEIPT_STRIDE)
    if ((await verdictOf(flipped(receipt, at), plan, authority)) === 'valid') unfound.push(at);
  expect(unfound, `of ${receipt.length} bytes`).toEqual([]);
});
