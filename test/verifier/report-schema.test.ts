import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { asciiJson, type VerifyOptions } from '../../verifier-cli/src/index.js';
import { ReportSchema, reportJsonSchema } from '../../verifier-cli/src/report/report-schema.js';
import { fixtureAuthority } from '../support/ledger-fixture.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { verifyFixture } from './support.js';

const FILE = new URL('../../verifier-cli/dist/report.schema.json', import.meta.url);
const authority = fixtureAuthority();

test('the published schema is the one of the code', () => {
  expect(JSON.parse(readFileSync(FILE, 'utf8'))).toEqual(reportJsonSchema());
});

test('every object of it is closed', () => {
  const open: string[] = [];
  const walk = (value: unknown, path: string): void => {
    if (value === null || typeof value !== 'object') return;
    const isObject = 'type' in value && value.type === 'object';
    if (isObject && !('additionalProperties' in value)) open.push(path);
    for (const [name, member] of Object.entries(value)) walk(member, `${path}/${name}`);
  };
  const schema = z.looseObject({ type: z.literal('object') }).parse(reportJsonSchema());
  walk(schema, '');
  expect(open).toEqual([]);
  expect(schema.additionalProperties).toBe(false);
});

/** A report as another program reads it. */
async function printed(hooks: PackageHooks, options: Partial<VerifyOptions> = {}): Promise<Record<string, unknown>> {
  const report = await verifyFixture(authority, buildPackage(authority, hooks), options);
  return z.record(z.string(), z.unknown()).parse(JSON.parse(asciiJson(report)));
}

const CASES: readonly [string, PackageHooks, Partial<VerifyOptions>][] = [
  ['of an honest package', {}, {}],
  ['without roots and keys', {}, { trustAnchors: [], ledgerKeys: [] }],
  ['of a package without a manifest that can be read', { manifest: () => ({}) }, {}],
  ['of a package of a development ledger', { manifest: (manifest) => ({ ...manifest, development: true }) }, {}],
  ['of a package with a line that cannot be read', { entryLines: (lines) => [{ broken: true }, ...lines] }, {}],
  ['of a package without entries', { entryLines: () => [] }, {}],
  [
    'of a package with names and texts that are hostile',
    {
      manifest: (manifest) => ({ ...manifest, exported_by: '\u001b[2J<script>\u202e' }),
      signedFiles: (files) => files.set('\u202e<svg>', new Uint8Array()),
    },
    {},
  ],
  [
    'with a warning',
    {
      world: ({ batches }) => Object.assign(batches[1]?.[0]?.record ?? {}, { created_at: '2026-03-01T08:00:00.000Z' }),
    },
    {},
  ],
  ['of tokens that are rubbish', { response: () => new Uint8Array([1, 2, 3]) }, {}],
];

test.each(CASES)('the report %s is as published', async (_, hooks, options) => {
  expect(ReportSchema.safeParse(await printed(hooks, options)).error?.issues).toBeUndefined();
});

test('a report with a member more, less or of another kind is none', async () => {
  const report = await printed({});
  expect(ReportSchema.safeParse({ ...report, extra: 1 }).success).toBe(false);
  expect(ReportSchema.safeParse({ ...report, verdict: 'fine' }).success).toBe(false);
  const { proves: _, ...less } = report;
  expect(ReportSchema.safeParse(less).success).toBe(false);
});
