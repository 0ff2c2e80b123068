import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { judgedCases } from './independent-verifiers/cases.js';
import { DISAGREEMENTS, type JudgeName } from './independent-verifiers/disagreements.js';
import { bouncyCastleJudge, dotNetJudge, type Judge, opensslJudge } from './independent-verifiers/judges.js';
import { verify } from './support/authority.js';
import { DATA, GEN_TIME } from './support/tokens.js';

const folder = mkdtempSync(join(tmpdir(), 'consent-ledger-judges-'));
afterAll(() => rmSync(folder, { recursive: true }));

const cases = judgedCases().map((one, i) => ({ ...one, folder: join(folder, String(i)) }));
for (const { folder: own, response, authority } of cases) {
  mkdirSync(own);
  const base64 = Buffer.from(authority.root.der)
    .toString('base64')
    .replace(/.{64}(?=.)/g, '$&\n');
  writeFileSync(join(own, 'response.tsr'), response);
  writeFileSync(join(own, 'data'), DATA);
  writeFileSync(join(own, 'root.der'), authority.root.der);
  writeFileSync(join(own, 'root.pem'), `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`);
}

const JUDGES: Readonly<Record<JudgeName, Judge>> = {
  openssl: opensslJudge(),
  'Bouncy Castle': bouncyCastleJudge(join(folder, 'java')),
  '.NET': dotNetJudge(join(folder, 'dotnet')),
};

describe.each(Object.entries(JUDGES))('compared with %s', (judgeName, judge) => {
  if (judge.missing !== null) console.warn(`The comparison with ${judgeName} is skipped: ${judge.missing}.`);

  test.skipIf(judge.missing !== null)('every disagreement is one that is explained', async () => {
    const verdicts = judge.judge(
      cases.map((one) => one.folder),
      cases.map(() => Math.floor(GEN_TIME.getTime() / 1000)),
    );
    expect(verdicts).toHaveLength(cases.length);
    const found: string[] = [];
    for (const [i, { name, authority, response }] of cases.entries()) {
      const doWePass = (await verify(authority, response)).outcome === 'pass';
      if (doWePass !== (verdicts[i] === 'pass')) found.push(name);
    }
    const explained = Object.entries(DISAGREEMENTS)
      .filter(([, { judges }]) => judges.some((one) => one === judgeName))
      .map(([name]) => name);
    expect(found.toSorted()).toEqual(explained.toSorted());
  });
});

test('the judges are asked about tokens that we pass, fail and leave open', async () => {
  const outcomes = await Promise.all(
    cases.map(async ({ authority, response }) => (await verify(authority, response)).outcome),
  );
  for (const outcome of ['pass', 'fail', 'indeterminate'])
    expect(outcomes.filter((one) => one === outcome).length).toBeGreaterThan(2);
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
});
