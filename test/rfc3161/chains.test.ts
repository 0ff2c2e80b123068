import { expect, test } from 'vitest';
import { failures, verify } from './support/authority.js';
import { CHAINS } from './support/chains.js';
import { makeToken } from './support/tokens.js';

/* What openssl says of each is in compared-with-openssl.large.test.ts. */

test.each(CHAINS)('$name', async ({ root, tsa, others, crls = [], ocspResponses = [], ours }) => {
  const token = makeToken(tsa, { certificates: [tsa, ...others].map(({ der }) => der) });
  const found = failures(await verify({ root }, token, { crls, ocspResponses }));
  expect(found).toEqual(Object.fromEntries(Object.entries(ours).map(([id, outcome]) => [`tst.${id}`, outcome])));
});
