import { describe, expect, test } from 'vitest';
import { FORGED_DISCLOSURES } from './forged-disclosures.js';
import { FORGED_ENDS } from './forged-ends.js';
import { FORGED_PERSONS } from './forged-persons.js';
import { FORGED_PLACES } from './forged-places.js';
import { Forge, type Forgery } from './forgery.js';
import { notPassed, verify } from './judge.js';
import { TimeAuthority } from './time-authority.js';

const authority = new TimeAuthority();
const forge = new Forge(authority);

const FORGERIES: readonly Forgery[] = [...FORGED_DISCLOSURES, ...FORGED_ENDS, ...FORGED_PERSONS, ...FORGED_PLACES];

describe.each([...new Set(FORGERIES.map(({ point }) => point))])('%s', (point) => {
  test.each(FORGERIES.filter((one) => one.point === point))('$name: $check makes it $verdict', async (forgery) => {
    const { zip, plan } = forge.make(forgery);
    const report = await verify(zip, plan, authority);
    const outcome = forgery.verdict === 'invalid' ? 'fail' : 'indeterminate';
    expect(notPassed(report)).toMatchObject({ [forgery.check]: outcome });
    expect(report.verdict).toBe(forgery.verdict);
  });
});
