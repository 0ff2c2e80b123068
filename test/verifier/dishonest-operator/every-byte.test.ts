import { expect, test } from 'vitest';
import { isHarmless } from '../harmless-bytes.js';
import { choose, type Draft, draftOf, packed } from './export.js';
import { makeLedger, type Plan } from './ledger.js';
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

/** One verification takes milliseconds. `test/verifier/sweep.test.ts` flips every byte of a package. */
const STRIDE = 61;

test(`a byte in every ${STRIDE}: flipped, it is found, or no verifier reads it`, async () => {
  const zip = packed(draft());
  const unfound: number[] = [];
  for (let at = 0; at < zip.length; at += STRIDE) {
    if (isHarmless(zip, at)) continue;
    const changed = zip.slice();
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    if ((await verdictOf(changed, plan, authority)) === 'valid') unfound.push(at);
  }
  expect(unfound, `of ${zip.length} bytes`).toEqual([]);
}, 600_000);

/** The files that state tags, runs and places, with the distance of the bytes that are flipped. */
const PROVING_FILES = [
  ['tags', 3],
  ['proofs', 3],
  ['batches', 23],
] as const;

test.each(PROVING_FILES)(
  '%s: a byte that is flipped before the manifest is signed is found',
  async (kind, stride) => {
    const honest = packed(draft());
    const text = Buffer.from(honest).toString('latin1');
    const file = kind === 'batches' ? 'batches.ndjson' : `${kind}/2.ndjson`;
    const start = text.indexOf(file) + file.length;
    const end = text.indexOf('PK\u0003\u0004', start);
    const content = honest.slice(start, end);
    const unfound: number[] = [];
    for (let at = 0; at < content.length; at += stride) {
      const changed = content.slice();
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 7));
      const one = draft();
      if (kind === 'batches') one.batches = [];
      else one[kind].delete(2);
      one.files.set(file, changed);
      if ((await verdictOf(packed(one), plan, authority)) === 'valid') unfound.push(at);
    }
    expect(unfound, `of ${content.length} bytes`).toEqual([]);
  },
  600_000,
);
