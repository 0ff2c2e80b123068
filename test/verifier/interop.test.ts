import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { decodeUtf8 } from '../../schemas/crypto/encoding.js';
import { parseCheckpoint } from '../../schemas/evidence/checkpoint.js';
import { Contradiction } from '../../schemas/evidence/contradiction.js';
import { SignedPromise } from '../../schemas/evidence/promise.js';
import { parseNote } from '../../schemas/evidence/signed-note.js';
import { parseDuration, parseTime } from '../../verifier-cli/src/cli/options.js';
import { readCertificates, readLedgerKeys } from '../../verifier-cli/src/cli/trust-files.js';
import { verifyContradiction } from '../../verifier-cli/src/compare/contradiction.js';
import { CHECKS, type CheckId, memorySource, NotAPackage, verifyPackage } from '../../verifier-cli/src/index.js';
import { auditNewest } from '../../verifier-cli/src/network/structure/audit-newest.js';
import { problemsOfCauses } from './causes.js';
import { expectDocumentedOutcomes } from './documented-outcomes.js';
import { interopCases } from './interop/interop-cases.js';
import { digestOf, forgedCases, statedCases } from './interop/other-cases.js';
import { sourceOf } from './network/audit-files.js';

const folder = fileURLToPath(new URL('../../interop', import.meta.url));
const inFolder = (name: string) => join(folder, name);

const STATED = {
  file: z.string().regex(/^(?:contradictions|structures)\/[a-z0-9-]+\.json$/),
  title: z.string(),
  ledger_key: z.array(z.string()),
  at: z.string(),
  content_sha256: z.string(),
};

const InteropIndex = z.strictObject({
  format: z.literal('consent-ledger-interop'),
  version: z.literal(1),
  cases: z.array(
    z.strictObject({
      file: z.string().regex(/^packages\/[a-z0-9-]+\/[a-z0-9-]+\.(?:zip|json)$/),
      title: z.string(),
      group: z.string(),
      check: z.custom<CheckId>((id) => typeof id === 'string' && id in CHECKS).nullable(),
      outcome: z.enum(['fail', 'indeterminate', 'pass']),
      verdict: z.enum(['valid', 'invalid', 'indeterminate', 'no package']),
      tsa_ca: z.array(z.string()),
      ledger_key: z.array(z.string()),
      max_delay: z.string().nullable(),
      max_age: z.string().nullable(),
      require_stamps: z.int(),
      at: z.string(),
      not_by_script: z.string().nullable(),
      promises: z.array(z.string()),
      content_sha256: z.string(),
    }),
  ),
  contradictions: z.array(z.strictObject({ ...STATED, verdict: z.enum(['proved', 'not proved']) })),
  structures: z.array(z.strictObject({ ...STATED, verdict: z.enum(['sound', 'violation']) })),
});
const { cases, contradictions, structures } = InteropIndex.parse(
  JSON.parse(readFileSync(inFolder('index.json'), 'utf8')),
);
const stated = [...contradictions, ...structures];

test('the repository has some cases of each group, below 1 MB in all, and none that is not listed', () => {
  expect(cases.filter(({ check }) => check !== null).length).toBeGreaterThanOrEqual(20);
  expect(new Set(cases.map(({ group }) => group)).size).toBe(12);
  const files = ['packages', 'promises', 'contradictions', 'structures']
    .flatMap((kind) =>
      readdirSync(inFolder(kind), { recursive: true, encoding: 'utf8' }).map((name) => `${kind}/${name}`),
    )
    .filter((name) => statSync(inFolder(name)).isFile());
  const listed = [...cases.flatMap(({ file, promises }) => [file, ...promises]), ...stated.map(({ file }) => file)];
  expect(files.toSorted()).toEqual(listed.toSorted());
  expect(files.reduce((sum, name) => sum + statSync(inFolder(name)).size, 0)).toBeLessThan(1_000_000);
});

test('they are those that the generator makes today: run `node test/verifier/interop/generate.js`', async () => {
  const planned = interopCases(folder);
  const others = [...forgedCases(folder), ...statedCases(folder)];
  expect(planned.length).toBeGreaterThan(200);
  expect(new Set([...planned, ...others].map(({ file }) => file)).size).toBe(planned.length + others.length);
  const kept = new Set([...cases, ...stated].map(({ file }) => file));
  const made = planned
    .filter(({ file }) => kept.has(file))
    .map(({ make }) => make())
    .map(({ file, check, verdict, contentSha256 }) => `${file}: ${check}, ${verdict}, ${contentSha256}`);
  for (const one of others.filter(({ file }) => kept.has(file))) {
    const bytes = await one.make();
    const digest = digestOf(bytes instanceof Uint8Array ? bytes : bytes.bytes);
    made.push(`${one.file}: ${'check' in one ? one.check : null}, ${one.verdict}, ${digest}`);
  }
  const listed = [...cases, ...stated.map((one) => ({ ...one, check: null }))];
  expect(listed.map((one) => `${one.file}: ${one.check}, ${one.verdict}, ${one.content_sha256}`).toSorted()).toEqual(
    made.toSorted(),
  );
});

const jsonOf = (name: string): unknown => JSON.parse(readFileSync(inFolder(name), 'utf8'));

test.each(contradictions)('a contradiction proof: $title', async ({ file, ledger_key: keys, at, verdict }) => {
  const parsed = Contradiction.parse(jsonOf(file));
  const { outcome } = await verifyContradiction(parsed, await readLedgerKeys(keys.map(inFolder)), parseTime(at));
  expect(outcome).toBe(verdict === 'proved' ? 'proved' : 'not-proved');
});

const StructureFile = z.strictObject({
  format: z.literal('consent-ledger-structure'),
  version: z.literal(1),
  files: z.record(
    z.string(),
    z.base64().transform((text) => new Uint8Array(Buffer.from(text, 'base64'))),
  ),
});

test.each(structures)('a published structure: $title', async ({ file, ledger_key: keys, verdict }) => {
  const files = new Map(Object.entries(StructureFile.parse(jsonOf(file)).files));
  const note = decodeUtf8(files.get('log/checkpoint') ?? new Uint8Array()) ?? '';
  const checkpoint = parseCheckpoint(parseNote(note)?.text ?? '');
  if (checkpoint === null) throw new Error('the structure has no checkpoint');
  const state = mkdtempSync(join(tmpdir(), 'consent-interop-'));
  const { outcome } = await auditNewest({
    source: sourceOf(files),
    folder: state,
    checkpoint,
    note,
    announcements: [],
    keys: await readLedgerKeys(keys.map(inFolder)),
  }).finally(() => rmSync(state, { recursive: true }));
  expect(outcome).toBe(verdict);
});

test.each(cases)('$group: $title', async (expected) => {
  const source = memorySource(new Uint8Array(readFileSync(inFolder(expected.file))));
  const verified = verifyPackage(source, {
    trustAnchors: await readCertificates(expected.tsa_ca.map(inFolder), expect.unreachable),
    ledgerKeys: await readLedgerKeys(expected.ledger_key.map(inFolder)),
    ...(expected.max_delay !== null && { maxDelay: parseDuration(expected.max_delay) }),
    ...(expected.max_age !== null && { maxAge: parseDuration(expected.max_age) }),
    requireStamps: expected.require_stamps,
    at: parseTime(expected.at),
    promises: expected.promises.map((file) => ({ file, promise: SignedPromise.parse(jsonOf(file)) })),
  });
  if (expected.verdict === 'no package') {
    await expect(verified).rejects.toThrow(NotAPackage);
    return;
  }
  const report = await verified;
  expect(report.verdict).toBe(expected.verdict);
  expectDocumentedOutcomes(report);
  expect(problemsOfCauses(report)).toEqual([]);
  const caught = report.checks.filter(
    ({ outcome, required }) => outcome === 'fail' || (outcome === 'indeterminate' && required),
  );
  if (expected.check === null) expect(caught).toEqual([]);
  else expect(report.checks.find(({ id }) => id === expected.check)?.outcome).toBe(expected.outcome);
});
