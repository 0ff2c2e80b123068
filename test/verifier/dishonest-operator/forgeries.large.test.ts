import { describe, expect, test } from 'vitest';
import { problemsOfCauses } from '../causes.js';
import { FORGERIES } from './all-forgeries.js';
import { Forge, type Forgery } from './forgery.js';
import { TimeAuthority } from './time-authority.js';
import { notPassed, verify } from './verification.js';

const authority = new TimeAuthority();
const forge = new Forge(authority);

/** The verdict, and the outcome of the check that must catch the forgery. */
async function caught(forgery: Forgery): Promise<{ readonly verdict: string; readonly outcome: string }> {
  const { zip, plan, options } = forge.make(forgery);
  const report = await verify(zip, plan, authority, options);
  expect(problemsOfCauses(report)).toEqual([]);
  return { verdict: report.verdict, outcome: notPassed(report)[forgery.check] ?? 'passed' };
}

const expected = ({ verdict }: Forgery) => ({
  verdict,
  outcome: verdict === 'invalid' ? 'fail' : 'indeterminate',
});

// All of them: for some rules of the verifier, few of them find a fault.
describe.each([...new Set(FORGERIES.map(({ point }) => point))])('%s', (point) => {
  test.each(FORGERIES.filter((one) => one.point === point))('$name: $check makes it $verdict', async (forgery) => {
    expect(await caught(forgery)).toEqual(expected(forgery));
  });
});

test('forgeries have names of their own', () => {
  const names = FORGERIES.map(({ point, name }) => `${point} ${name}`);
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
});
