import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { openPromise } from 'yauzl';
import { ZipFile } from 'yazl';
import type { Manifest } from '../../schemas/evidence/manifest.js';
import { en } from '../../verifier-cli/src/i18n/en/index.js';
import { asciiJson, CHECKS, memorySource, NotAPackage, terminalReport } from '../../verifier-cli/src/index.js';
import { renderHtml } from '../../verifier-cli/src/rendering/markup.js';
import { reportPage } from '../../verifier-cli/src/report/report-page.js';
import { integer, sequence } from '../rfc3161/support/der.js';
import { fixtureAuthority, LEDGER_KEY, NEXT_LEDGER_KEY } from '../support/ledger-fixture.js';
import { buildPackage, type Files, type PackageHooks } from '../support/package-builder.js';
import { notPassed, verifierKey, verifyFixture } from './support.js';

const authority = fixtureAuthority();

test('an honest package is valid, and every check is reported', async () => {
  const report = await verifyFixture(authority, buildPackage(authority));
  expect(notPassed(report)).toEqual({});
  expect(report.verdict).toBe('valid');
  expect(report.checks.map(({ id }) => id)).toEqual(Object.keys(CHECKS));
  expect(report.records).toMatchObject({ entries: 15, consents: 8, erased: 2, verdicts: { valid: 8 } });
  expect(report.proved.earliest?.time).toBe('2026-03-01T10:09:00.000Z');
  expect(report.proved.not_after?.time).toBe('2026-03-01T10:49:00.000Z');
});

test('a batch is bracketed by the stamp that its header names and the first over it', async () => {
  const report = await verifyFixture(authority, buildPackage(authority));
  const interval = report.proved.intervals.find(({ batch }) => batch === 3);
  expect(interval).toMatchObject({
    after: { time: '2026-03-01T10:19:00.000Z', checkpoint: 2 },
    before: { time: '2026-03-01T10:39:00.000Z', checkpoint: 4 },
  });
});

test.each(['paths', 'leaves'] as const)('proofs may all be %s', async (proofForm) => {
  const report = await verifyFixture(authority, buildPackage(authority, { proofForm }));
  expect(report.verdict).toBe('valid');
});

test('a key pinned before a rotation verifies packages made after it, and so does the new one', async () => {
  const zip = buildPackage(authority, { rotateAt: 4 });
  for (const { verifierKey: line } of [LEDGER_KEY, NEXT_LEDGER_KEY]) {
    const report = await verifyFixture(authority, zip, { ledgerKeys: [verifierKey(line)] });
    expect(notPassed(report)).toEqual({});
    expect(report.checks.find(({ id }) => id === 'ledger.announcement')?.outcome).toBe('pass');
  }
});

test('an announcement whose batch has a header of 200,000 characters fails, and does not end the check', async () => {
  const keys = [NEXT_LEDGER_KEY.verifierKey];
  const padded = (text: unknown): string => String(text).replace('{', `{${' '.repeat(200_000)}`);
  const zip = buildPackage(authority, {
    rotateAt: 2,
    announcements: [
      { batch: 1, keys },
      { batch: 3, keys },
    ],
    batchLines: (lines) => lines.map((line, i) => (i === 3 ? { ...line, header: padded(line.header) } : line)),
  });
  expect(notPassed(await verifyFixture(authority, zip))).toMatchObject({
    'batch.header': 'fail',
    'ledger.announcement': 'fail',
  });
});

test('what a whole package covers is said with its revisions', async () => {
  const report = await verifyFixture(authority, buildPackage(authority));
  expect(report.coverage?.consents).toMatchObject({ complete_up_to: 9, ledger_reaches: 9, is_whole: true });
  const proved = 'The package has all of the site’s consents and erasures that the ledger has (10)';
  expect(report.proves.join()).toContain(proved);
  expect(terminalReport(report, en)).toContain(proved);
  expect(terminalReport(report, en)).toContain('consents and erasures are complete up to revision 9');
  expect(report.not_proved.join()).not.toContain('later withdrawal');
  expect(report.not_proved.join()).toContain('after the 10 consents and erasures in the package');
  expect(report.not_proved.join()).toContain('consent-verify compare');
});

test.each([
  [
    'that claims its notices alone',
    (complete: Manifest['complete']) => complete.slice(1),
    /does not show all of the site’s consents and erasures/,
  ],
  [
    'of a range',
    (complete: Manifest['complete']) => complete.map((run) => (isConsents(run) ? { ...run, first: 2, last: 4 } : run)),
    /the package has numbers 3 to 5 without a gap; the ledger has 10/,
  ],
  [
    'of all until a time',
    (complete: Manifest['complete']) => complete.map((run) => (isConsents(run) ? { ...run, last: 6 } : run)),
    /the package has the first 7; the ledger has 10/,
  ],
])('the report on a package %s states that a later withdrawal may be missing', async (_, change, words) => {
  const zip = buildPackage(authority, {
    showsAllTags: true,
    manifest: (one) => ({
      ...one,
      filter: { ...one.filter, to: '2026-03-02T00:00:00.000Z' },
      complete: change(one.complete),
    }),
  });
  const report = await verifyFixture(authority, zip);
  expect(notPassed(report)).toEqual({});
  const caveat = report.not_proved.find((line) => line.includes('A later withdrawal may be missing'));
  expect(caveat).toMatch(words);
  expect(terminalReport(report, en)).toContain('only created before 2026-03-02T00:00:00.000Z');
  expect(renderHtml(reportPage(report, en))).toContain('only created before 2026-03-02T00:00:00.000Z');
});

test.each([
  ['consents', (complete: Manifest['complete']) => complete.slice(1), {}],
  ['notices', (complete: Manifest['complete']) => complete.slice(0, 1), { 'document.in-force': 'indeterminate' }],
])('a whole site must claim all of its %s', async (_, change, others) => {
  const zip = buildPackage(authority, { manifest: (one) => ({ ...one, complete: change(one.complete) }) });
  expect(notPassed(await verifyFixture(authority, zip))).toEqual({ 'completeness.runs': 'fail', ...others });
});

test('values that were not chosen are withheld, and that is no fault', async () => {
  const zip = buildPackage(authority, {
    manifest: (one) => ({ ...one, filter: { ...one.filter, disclose: 'none' } }),
    entryLines: (lines) => lines.map((line) => ({ ...line, disclosures: [] })),
    files: (files) => withoutAttachments(files),
  });
  const report = await verifyFixture(authority, zip);
  expect(report.verdict).toBe('valid');
  expect(report.records).toMatchObject({ disclosed_values: 0, withheld_values: 13, erased: 2 });
});

test('a further stamp that is not conclusive is reported, and not used', async () => {
  const zip = buildPackage(authority, { token: (size) => (size === 4 ? { imprintHash: 'sha1' } : {}) });
  const report = await verifyFixture(authority, zip);
  expect(report.verdict).toBe('valid');
  expect(report.checks.find(({ id }) => id === 'tst.imprint')?.outcome).toBe('indeterminate');
  const interval = report.proved.intervals.find(({ batch }) => batch === 3);
  expect(interval?.before?.checkpoint).toBe(5);
});

test('a stamp of a wide accuracy proves only the end of it', async () => {
  const days = (count: number) => () => ({ accuracy: sequence(integer(count * 86_400)) });
  const wide = await verifyFixture(authority, buildPackage(authority, { token: days(2) }));
  expect(notPassed(wide)).toMatchObject({ 'time.claimed': 'indeterminate' });
  expect(wide.verdict).toBe('indeterminate');
});

test('a failure names file, line, stream, revision and record, and stops no other check', async () => {
  const zip = buildPackage(authority, {
    entryLines: (lines) =>
      lines.map((line) => ({
        ...line,
        entry: String(line.entry).replace('"decision":"rejected"', '"decision":"accepted"'),
      })),
  });
  const report = await verifyFixture(authority, zip);
  const inclusion = report.checks.find(({ id }) => id === 'entry.inclusion');
  expect(inclusion?.counts).toMatchObject({ pass: 14, fail: 1 });
  expect(inclusion?.problems[0]).toMatchObject({ file: 'entries.ndjson', line: 3, revision: 2 });
  expect(inclusion?.problems[0]?.event_id).toMatch(/^[0-9a-f-]{36}$/);
  expect(report.checks.find(({ id }) => id === 'entry.chain')?.outcome).toBe('pass');
  expect(report.records.verdicts).toEqual({ valid: 7, indeterminate: 0, invalid: 1 });
});

test('hostile text reaches neither the terminal nor the JSON as it is', async () => {
  const hostile = '\u001b[2J\u202e\u0085<script>\u2066';
  const zip = buildPackage(authority, {
    manifest: (manifest) => ({ ...manifest, exported_by: hostile }),
    signedFiles: (files) => files.set(`x${hostile}`, new Uint8Array()),
  });
  const report = await verifyFixture(authority, zip);
  expect(report.verdict).toBe('invalid');
  expect(terminalReport(report, en)).toMatch(/^[\n\x20-\x7e\u00a1-\u024f\u2010-\u2029\u2030-\u205e\u2190-\u27bf]*$/u);
  expect(terminalReport(report, en)).not.toContain('\u2028');
  expect(asciiJson(report)).toMatch(/^[\n -~]*$/);
  expect(JSON.parse(asciiJson(report))).toMatchObject({ package: { exported_by: hostile } });
});

test('an unreadable CRL in the package is a warning with its reason', async () => {
  const broken = new Uint8Array([0x30, 1]);
  const name = `checkpoints/crls/${createHash('sha256').update(broken).digest('hex')}.crl`;
  const zip = buildPackage(authority, { files: (files) => files.set(name, broken) });
  const report = await verifyFixture(authority, zip);
  expect(report.verdict).toBe('valid');
  expect(report.warnings.first.slice(0, 1)).toEqual([
    {
      file: name,
      message: 'the file cannot be read, and clears no certificate: a value extends beyond the value that contains it',
      code: 'pki-file-ignored',
      values: { reason: 'a value extends beyond the value that contains it' },
    },
  ]);
});

test('rejects bytes that are not a ZIP, and a ZIP without a manifest', async () => {
  await expect(verifyFixture(authority, new Uint8Array(100))).rejects.toThrow(NotAPackage);
  const zip = buildPackage(authority, { signedFiles: (files) => files.delete('manifest.json') });
  await expect(verifyFixture(authority, zip)).rejects.toThrow(NotAPackage);
});

test('yauzl and unzip read the packages of these tests, and packages written by yazl are read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'consent-verify-'));
  try {
    const path = join(folder, 'package.zip');
    writeFileSync(path, buildPackage(authority));
    execFileSync('unzip', ['-tq', path]);
    const zip = await openPromise(path, { autoClose: true });
    const copy = new ZipFile();
    for await (const entry of zip.eachEntry()) {
      const parts: Buffer[] = [];
      for await (const part of await zip.openReadStreamPromise(entry)) parts.push(part);
      copy.addReadStreamLazy(entry.fileName, (callback) => callback(null, streamOf(Buffer.concat(parts))));
    }
    copy.end({ forceZip64Format: true, comment: '' });
    const bytes: Buffer[] = [];
    for await (const part of copy.outputStream) bytes.push(Buffer.from(part));
    const report = await verifyFixture(authority, new Uint8Array(Buffer.concat(bytes)));
    expect(notPassed(report)).toEqual({});
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('progress reaches the whole', async () => {
  const seen: number[] = [];
  let total = 0;
  await verifyFixture(authority, buildPackage(authority), {
    onProgress: (read, all) => {
      seen.push(read);
      total = all;
    },
  });
  expect(seen.at(-1)).toBe(total);
  expect(seen).toEqual(seen.toSorted((a, b) => a - b));
});

test('a source that fails is an error, not a verdict', async () => {
  const zip = buildPackage(authority);
  const source = memorySource(zip);
  await expect(source.read(zip.length - 1, 2)).rejects.toThrow(RangeError);
});

function withoutAttachments(files: Files): void {
  for (const name of [...files.keys()]) if (name.startsWith('attachments/')) files.delete(name);
}

function streamOf(bytes: Buffer) {
  return Readable.from([bytes]);
}

function isConsents({ stream }: { readonly stream: string }): boolean {
  return stream.startsWith('consents-');
}

test('a package that was unpacked and packed again is invalid, and the first line asks for the original', async () => {
  const again: PackageHooks = {
    zipFiles: (files) => [
      { name: 'notices/', content: new Uint8Array() },
      ...files.map((file) => ({ ...file, central: { extra: Uint8Array.of(0x75, 0x78, 0, 0) } })),
    ],
  };
  const lineOf = async (hooks: PackageHooks): Promise<string> => {
    const report = await verifyFixture(authority, buildPackage(authority, hooks));
    expect(report.verdict).toBe('invalid');
    return terminalReport(report, en).split('\n')[0] ?? '';
  };
  expect(await lineOf(again)).toMatch(/^INVALID, .* packed again\. .* ask for the original file\.$/);
  const changed: PackageHooks = {
    zipFiles: (files) =>
      again
        .zipFiles?.(files)
        ?.map((file) =>
          file.name === 'README.txt' ? { ...file, content: new TextEncoder().encode('another text') } : file,
        ),
  };
  expect(await lineOf(changed)).not.toContain('packed again');
});
