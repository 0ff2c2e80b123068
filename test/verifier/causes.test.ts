import { describe, expect, test } from 'vitest';
import { PACKAGE_FILES } from '../../schemas/evidence/package-lines.js';
import { en } from '../../verifier-cli/src/i18n/en/index.js';
import type { CheckId, VerifyOptions } from '../../verifier-cli/src/index.js';
import { htmlPage } from '../../verifier-cli/src/report/html.js';
import { reportPage } from '../../verifier-cli/src/report/report-page.js';
import { terminalReport } from '../../verifier-cli/src/report/terminal.js';
import { fixtureAuthority, ORIGIN } from '../support/ledger-fixture.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { testSigningKey } from '../support/signing-key.js';
import { causesOf, isBad, problemsOfCauses } from './causes.js';
import { verifierKey, verifyFixture } from './support.js';

const authority = fixtureAuthority();
const stranger = fixtureAuthority();

interface Cascade {
  readonly hooks?: PackageHooks;
  readonly options?: Partial<VerifyOptions>;
  /** Checks that a person must look at. */
  readonly causes: readonly CheckId[];
  /** All checks that fail or stay open. */
  readonly findings: number;
}

const removed = (...names: readonly string[]): PackageHooks => ({
  files: (files) => {
    for (const name of names) files.delete(name);
  },
});

const CASCADES: Readonly<Record<string, Cascade>> = {
  'no root is given': { options: { trustAnchors: [] }, causes: ['tst.path'], findings: 7 },
  'the root of another authority is given': {
    options: { trustAnchors: [stranger.root.der] },
    causes: ['tst.path'],
    findings: 7,
  },
  'no ledger key is given': { options: { ledgerKeys: [] }, causes: ['ledger.key'], findings: 2 },
  'another ledger key is given': {
    options: { ledgerKeys: [verifierKey(testSigningKey(ORIGIN, 'another key').verifierKey)] },
    causes: ['ledger.key'],
    findings: 2,
  },
  'no revocation list is there': { hooks: { crl: () => null }, causes: ['tst.revocation'], findings: 6 },
  'more authorities are required': { options: { requireStamps: 2 }, causes: ['time.stamped'], findings: 4 },
  'a token is cut': {
    hooks: { response: (response, size) => (size === 5 ? response.slice(0, 100) : response) },
    causes: ['tst.format'],
    findings: 22,
  },
  'tokens are missing': {
    hooks: removed(...[1, 2, 4, 5].map((size) => PACKAGE_FILES.response(size, 1))),
    causes: ['tst.format'],
    findings: 6,
  },
  'a note is missing': { hooks: removed(PACKAGE_FILES.note(2)), causes: ['ledger.checkpoint'], findings: 4 },
  'the batches are missing': {
    hooks: removed(PACKAGE_FILES.batches),
    causes: ['entry.inclusion', 'completeness.runs'],
    findings: 8,
  },
  'one record is altered': {
    hooks: {
      entryLines: (lines) => {
        const [first] = lines;
        if (first !== undefined) first.entry = String(first.entry).replace('"accepted"', '"rejected"');
        return undefined;
      },
    },
    causes: ['entry.inclusion'],
    findings: 1,
  },
};

describe.each(Object.entries(CASCADES))('%s', (_, { hooks = {}, options = {}, causes, findings }) => {
  test('one cause is reported, with what it leaves undecided', async () => {
    const report = await verifyFixture(authority, buildPackage(authority, hooks), options);
    expect(problemsOfCauses(report)).toEqual([]);
    expect(causesOf(report)).toEqual(causes);
    expect(report.checks.filter(isBad).filter(({ id }) => id !== 'record.proof-hash')).toHaveLength(findings);
    const text = terminalReport(report, en);
    const html = htmlPage('Evidence of consent', 'en', reportPage(report, en));
    const [, attention = ''] = /Failed and open checks<\/h2>(.*?)<\/section>/s.exec(html) ?? [];
    // The verdict itself names a key or root that was not given.
    const isNamed = options.trustAnchors?.length === 0 || options.ledgerKeys?.length === 0;
    expect(attention.match(/<h3>/g) ?? []).toHaveLength(isNamed ? 0 : causes.length);
    for (const { affects, because } of report.checks) {
      if (affects.length > 0) expect(text).toContain(`because of this, also failed or open: ${affects.join(', ')}`);
      if (affects.length > 0 && !isNamed) expect(attention).toContain(affects.join(', '));
      if (because.length > 0) expect(text).toContain(`      because of ${because.join(' and ')}\n`);
    }
  });
});
