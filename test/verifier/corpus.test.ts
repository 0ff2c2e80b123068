import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { parseDuration, parseTime } from '../../verifier-cli/src/cli/options.js';
import { readCertificates, readLedgerKeys } from '../../verifier-cli/src/cli/trust-files.js';
import { CHECKS, type CheckId, memorySource, verifyPackage } from '../../verifier-cli/src/index.js';
import { problemsOfCauses } from './causes.js';
import { corpusCases } from './corpus/corpus-cases.js';
import { expectDocumentedOutcomes } from './documented-outcomes.js';

const folder = fileURLToPath(new URL('../corpus', import.meta.url));
const inCorpus = (name: string) => join(folder, name);

const CorpusIndex = z.strictObject({
  format: z.literal('consent-ledger-evidence-corpus'),
  version: z.literal(1),
  cases: z.array(
    z.strictObject({
      file: z.string().regex(/^packages\/[a-z0-9-]+\/[a-z0-9-]+\.zip$/),
      title: z.string(),
      group: z.string(),
      check: z.custom<CheckId>((id) => typeof id === 'string' && id in CHECKS).nullable(),
      outcome: z.enum(['fail', 'indeterminate', 'pass']),
      verdict: z.enum(['valid', 'invalid', 'indeterminate']),
      tsa_ca: z.array(z.string()),
      ledger_key: z.array(z.string()),
      max_delay: z.string().nullable(),
      require_stamps: z.int(),
      at: z.string(),
      content_sha256: z.string(),
    }),
  ),
});
const { cases } = CorpusIndex.parse(JSON.parse(readFileSync(inCorpus('index.json'), 'utf8')));

test('the repository has some packages of each group, below 1 MB in all, and none that is not listed', () => {
  expect(cases.filter(({ check }) => check !== null).length).toBeGreaterThanOrEqual(20);
  expect(new Set(cases.map(({ group }) => group)).size).toBe(8);
  const files = readdirSync(inCorpus('packages'), { recursive: true, encoding: 'utf8' })
    .map((name) => `packages/${name}`)
    .filter((name) => statSync(inCorpus(name)).isFile());
  expect(files.toSorted()).toEqual(cases.map(({ file }) => file).toSorted());
  expect(files.reduce((sum, name) => sum + statSync(inCorpus(name)).size, 0)).toBeLessThan(1_000_000);
});

test('they are those that the generator makes today: run `node test/verifier/corpus/generate.js`', () => {
  const planned = corpusCases(folder);
  expect(planned.length).toBeGreaterThan(200);
  expect(new Set(planned.map(({ file }) => file)).size).toBe(planned.length);
  const kept = new Set(cases.map(({ file }) => file));
  const made = planned
    .filter(({ file }) => kept.has(file))
    .map(({ make }) => make())
    .map(({ file, check, verdict, contentSha256 }) => [file, check, verdict, contentSha256]);
  expect(cases.map((one) => [one.file, one.check, one.verdict, one.content_sha256])).toEqual(made);
});

test.each(cases)('$group: $title', async (expected) => {
  const report = await verifyPackage(memorySource(new Uint8Array(readFileSync(inCorpus(expected.file)))), {
    trustAnchors: await readCertificates(expected.tsa_ca.map(inCorpus), expect.unreachable),
    ledgerKeys: await readLedgerKeys(expected.ledger_key.map(inCorpus)),
    ...(expected.max_delay !== null && { maxDelay: parseDuration(expected.max_delay) }),
    requireStamps: expected.require_stamps,
    at: parseTime(expected.at),
  });
  expect(report.verdict).toBe(expected.verdict);
  expectDocumentedOutcomes(report);
  expect(problemsOfCauses(report)).toEqual([]);
  const caught = report.checks.filter(
    ({ outcome, required }) => outcome === 'fail' || (outcome === 'indeterminate' && required),
  );
  if (expected.check === null) expect(caught).toEqual([]);
  else expect(report.checks.find(({ id }) => id === expected.check)?.outcome).toBe(expected.outcome);
});
