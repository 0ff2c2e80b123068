import { describe, expect, test } from 'vitest';
import { formatVerifierKey } from '../../schemas/evidence/signed-note.js';
import { DEVELOPMENT_MARK } from '../../schemas/rfc3161/development-mark.js';
import { en } from '../../verifier-cli/src/i18n/en/index.js';
import { RecordWatch, recordText, terminalReport, type VerifyOptions } from '../../verifier-cli/src/index.js';
import { renderHtml } from '../../verifier-cli/src/rendering/markup.js';
import { reportPage } from '../../verifier-cli/src/report/report-page.js';
import { crlDistributionPoint, makeCertificate, TSA_EXTENSIONS } from '../rfc3161/support/certificates.js';
import { fixtureAuthority, LEDGER_KEY, NEXT_LEDGER_KEY, VERIFIED_AT } from '../support/ledger-fixture.js';
import {
  type FixtureEvent,
  type FixtureWorld,
  fixtureUuid,
  minute,
  policyEvent,
} from '../support/ledger-fixture-events.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { notPassed, verifierKey, verifyFixture } from './support.js';

const authority = fixtureAuthority();
const verify = (hooks: PackageHooks, options: Partial<VerifyOptions> = {}) =>
  verifyFixture(authority, buildPackage(authority, hooks), options);

/** Adds policies to batches of the fixture's world. */
function withPolicies(policies: readonly (readonly [batch: number, event: FixtureEvent])[], hooks: PackageHooks = {}) {
  const world = (one: FixtureWorld): void => {
    for (const [batch, event] of policies) one.batches[batch]?.push(event);
    hooks.world?.(one);
  };
  return { ...hooks, world };
}

const created = (label: string, time: Date) => (world: FixtureWorld) => {
  const event = world.batches.flat().find((one) => one.label === label);
  if (event === undefined) throw new Error(`no event ${label}`);
  const validUntil = new Date(time.getTime() + 86_400_000);
  Object.assign(event.record, { created_at: time.toISOString(), valid_until: validUntil.toISOString() });
};

describe('the policy in force', () => {
  test('is the newest one that existed when the record was made', async () => {
    const strict = policyEvent(2, 31, { seal_within_seconds: 300, stamp_within_seconds: 60 });
    const honest = await verify(withPolicies([[0, policyEvent(1, 1)]]));
    expect(notPassed(honest)).toEqual({});
    expect(honest.policy).toEqual({ number: 1, seal_within_seconds: 600, stamp_within_seconds: 3600 });
    // Batches 3 and 4 are stamped 8 minutes after their first record. The records of batch 3, and those
    // of batch 4 that are older than its stamp, waited when the strict policy was stamped.
    const report = await verify(
      withPolicies([
        [0, policyEvent(1, 1)],
        [3, strict],
      ]),
    );
    expect(notPassed(report)).toMatchObject({ 'time.claimed': 'indeterminate' });
    const claimed = report.checks.find(({ id }) => id === 'time.claimed');
    expect(claimed?.problems.map(({ event_id: id }) => id)).toEqual(['c7'].map(fixtureUuid));
    expect(claimed?.problems[0]?.message).toBe(
      'stamped 8 min after the claimed time, and 6 min are allowed: the record was stamped late or is backdated',
    );
    expect(terminalReport(report, en)).toContain('sealed within 300 s, stamped within 60 s (policy 2 of the ledger)');
  });

  test('fails for more policies than the verifier reads: none is ignored in silence', async () => {
    const many = Array.from({ length: 1_001 }, (_, i) => [0, policyEvent(i + 1, 1)] as const);
    expect(notPassed(await verify(withPolicies(many)))).toMatchObject({ 'container.limits': 'fail' });
    expect(notPassed(await verify(withPolicies(many.slice(1))))).not.toHaveProperty(['container.limits']);
  });

  test('names witnesses by their keys, and by no key of another type', async () => {
    const { publicKey, verifierKey: ledgerLine } = LEDGER_KEY;
    const witness = formatVerifierKey('witness.example', publicKey, 4);
    const naming = (...witnesses: string[]) => withPolicies([[0, policyEvent(1, 1, { witnesses })]]);
    expect(notPassed(await verify(naming(witness)))).toEqual({});
    for (const wrong of [[ledgerLine], [` ${witness}`, witness], [witness, witness]])
      expect(notPassed(await verify(naming(...wrong)))).toMatchObject({ 'record.format': 'fail' });
  });

  test('is the default without one, and the report says so', async () => {
    const report = await verify({});
    expect(report.policy).toEqual({ number: null, seal_within_seconds: 600, stamp_within_seconds: 3600 });
    expect(terminalReport(report, en)).toContain('defaults: the package includes no policy of the ledger');
  });

  test('cannot be widened by --max-delay, only tightened', async () => {
    const hooks = withPolicies([[0, policyEvent(1, 1, { seal_within_seconds: 300, stamp_within_seconds: 60 })]]);
    expect((await verify(hooks, { maxDelay: 86_400_000 })).verdict).toBe('indeterminate');
    expect((await verify({}, { maxDelay: 60_000 })).verdict).toBe('indeterminate');
  });

  test('is found where a writer escapes the characters of its stream', async () => {
    const strict = policyEvent(1, 1, { seal_within_seconds: 300, stamp_within_seconds: 60 });
    const report = await verify(
      withPolicies([[0, strict]], {
        files: (files) => {
          const text = new TextDecoder().decode(files.get('entries.ndjson'));
          const escaped = text.replace('\\"stream\\":\\"policy\\"', '\\u0022stream\\u0022:\\"\\u0070olicy\\"');
          if (escaped === text) throw new Error('nothing to escape');
          files.set('entries.ndjson', new TextEncoder().encode(escaped));
        },
      }),
    );
    expect(report.policy.number).toBe(1);
    expect(notPassed(report)).toMatchObject({ 'time.claimed': 'indeterminate' });
  });

  test.each<[string, string, PackageHooks]>([
    [
      'one that the package leaves out although a batch shows it',
      'completeness.runs',
      {
        entryLines: (lines) => lines.slice(0, -1),
        manifest: (one) => ({
          ...one,
          complete: one.complete.slice(0, -1),
          counts: { ...one.counts, entries: one.counts.entries - 1 },
        }),
      },
    ],
    [
      'a number that is not its place',
      'record.format',
      { entryText: (text) => text.replace('"number":1', '"number":2') },
    ],
    [
      'one in the stream of a site',
      'entry.stream',
      {
        entryParts: (parts, event) =>
          event.label === 'policy 1' ? { ...parts, stream: `notices-${fixtureUuid('site')}`, revision: 5 } : parts,
      },
    ],
    [
      'one that was widened after it was sealed',
      'entry.inclusion',
      {
        entryLines: (lines) =>
          lines.map((line) => ({
            ...line,
            entry: String(line.entry).replace('"stamp_within_seconds":3600', '"stamp_within_seconds":99999'),
          })),
      },
    ],
    [
      'a delay beyond what a policy may state',
      'record.format',
      { entryText: (text) => text.replace('"stamp_within_seconds":3600', '"stamp_within_seconds":172801') },
    ],
  ])('fails for %s', async (_, check, hooks) => {
    const report = await verify(withPolicies([[0, policyEvent(1, 1)]], hooks));
    expect(notPassed(report)).toMatchObject({ [check]: 'fail' });
    expect(report.verdict).toBe('invalid');
    expect((await shown('c3', withPolicies([[0, policyEvent(1, 1)]], hooks)))?.verdict).toBe('invalid');
  });
});

async function shown(label: string, hooks: PackageHooks, options: Partial<VerifyOptions> = {}) {
  const watch = RecordWatch.of(fixtureUuid(label));
  await verifyFixture(authority, buildPackage(authority, hooks), options, watch);
  return watch?.shown ?? null;
}

/** The message of the first problem of a check. */
async function problem(id: string, hooks: PackageHooks, options: Partial<VerifyOptions> = {}) {
  const report = await verify(hooks, options);
  const [first] = report.checks.find((check) => check.id === id)?.problems ?? [];
  return { verdict: report.verdict, outcome: first?.outcome, message: first?.message };
}

describe('a claimed time', () => {
  test.each<[string, string, number, RegExp, verdict?: string]>([
    ['before the proved start', 'c7', 23, /16 min before the time stamp after which/],
    ['long before the sealing', 'c5', 20, /^sealed 17 min after the claimed time, and 10 min/],
    // The consent also precedes its own text, which fails.
    ['long before the end', 'c0', -52, /^stamped 1.2 h after the claimed time/, 'invalid'],
    [
      'far below that of an earlier entry of the stream',
      'c4',
      7,
      /^the claimed time is 7 min before that of an earlier entry/,
    ],
  ])(
    '%s leaves the package open, and the record in `show`',
    async (_, label, minutes, message, verdict = 'indeterminate') => {
      const hooks = { world: created(label, minute(minutes)) };
      expect(await problem('time.claimed', hooks)).toMatchObject({
        verdict,
        outcome: 'indeterminate',
        message: expect.stringMatching(message),
      });
      const record = await shown(label, hooks);
      expect(record?.verdict).toBe(verdict);
      expect(record?.checks.find(({ id }) => id === 'time.claimed')?.messages.join()).toMatch(message);
      expect((await shown('c2', hooks))?.verdict).toBe('valid');
    },
  );

  test('after the sealing of its batch fails', async () => {
    expect(await problem('time.claimed', { world: created('c7', minute(53)) })).toMatchObject({
      verdict: 'invalid',
      message: 'the claimed creation time is after sealed_at of the batch',
    });
  });

  test('within the tolerance of the clocks passes', async () => {
    expect((await verify({ world: created('c4', minute(10)) })).verdict).toBe('valid');
  });
});

describe('the older stamp that a batch names', () => {
  const header = (change: (number: number) => object): PackageHooks => ({
    header: (one) => ({ ...one, ...change(one.number) }),
  });
  const never = header(() => ({ after: null }));

  test('must be named once there is one: a ledger that names none anywhere is not valid', async () => {
    const report = await verify(never);
    expect(notPassed(report)).toMatchObject({ 'time.start': 'indeterminate' });
    const start = report.checks.find(({ id }) => id === 'time.start');
    expect(start?.problems[0]?.message).toBe(
      'the batch was sealed 8 min after the time stamp over checkpoint 1, but names no time stamp',
    );
    expect((await shown('c7', never))?.verdict).toBe('indeterminate');
  });

  test('must be the newest one', async () => {
    let first: unknown = null;
    const stale: PackageHooks = {
      header: (one) => {
        first ??= one.after;
        return one.number === 4 ? { ...one, after: { size: 1, sha256: z(first) } } : one;
      },
    };
    // The header of batch 3 names checkpoint 2, so that of batch 4 goes back.
    expect((await verify(stale)).verdict).toBe('invalid');
    first = null;
    const always: PackageHooks = {
      header: (one) => {
        first ??= one.after;
        return one.number > 1 ? { ...one, after: { size: 1, sha256: z(first) } } : one;
      },
    };
    expect(await problem('time.start', always)).toMatchObject({
      verdict: 'indeterminate',
      message: 'the batch was sealed 18 min after the time stamp over checkpoint 2, but names an older one',
    });
  });

  test('may be missing only where batch 0 shows that there was none', async () => {
    // Only the records of batch 3 and the stamps over it: nothing shows that others are left out.
    const alone: PackageHooks = {
      ...never,
      ...onlyBatches(3, [1, 2]),
    };
    expect(await problem('time.start', alone)).toMatchObject({
      outcome: 'indeterminate',
      message: expect.stringContaining('does not include batch 0'),
    });
  });

  test('leaves the package open if it is not in the package', async () => {
    const hooks: PackageHooks = { files: (files) => void files.delete('checkpoints/4.1.tsr') };
    // Batch 3 was sealed after stamp 2, so batch 4 was as well, within the delays of the policy.
    const near = await verify(hooks);
    expect(notPassed(near)).toEqual({});
    expect(near.proved.intervals.find(({ batch }) => batch === 4)?.after?.checkpoint).toBe(2);
    expect(await problem('time.start', onlyBatches(4, [4]))).toMatchObject({
      outcome: 'indeterminate',
      message: 'the time stamp over checkpoint 4, after which the batch was sealed, is not in the package',
    });
  });
});

const z = (after: unknown): string =>
  typeof after === 'object' && after !== null && 'sha256' in after ? String(after.sha256) : '';

/** A package with one batch of records, and without these stamps. */
function onlyBatches(number: number, withoutStamps: readonly number[]): PackageHooks {
  return {
    entryLines: (lines) => lines.filter((line) => line.batch === number),
    batchLines: (lines) => lines.filter((line) => String(line.header).includes(`"number":${number},`)),
    files: (files) => {
      for (const name of [...files.keys()])
        if (name.startsWith('proofs/') && name !== `proofs/${number}.ndjson`) files.delete(name);
      for (const size of withoutStamps) files.delete(`checkpoints/${size}.1.tsr`);
    },
    manifest: (one) => ({ ...one, complete: [] }),
  };
}

describe('the state of a package', () => {
  const exported = (time: string): PackageHooks => ({ manifest: (one) => ({ ...one, exported_at: time }) });

  test('is named first: the time of the newest stamp over its checkpoint', async () => {
    const report = await verify({});
    expect(report.as_of).toMatchObject({ time: '2026-03-01T10:49:00.000Z', checkpoint: 5 });
    expect(terminalReport(report, en)).toMatch(
      /^VALID, as of 2026-03-01 10:49:00\.000 UTC: Every required check passed\.\n/,
    );
    const page = renderHtml(reportPage(report, en));
    expect(page).toContain('<section class="verdict valid">');
    expect(page).toContain('State of the ledger: 1 March 2026, 10:49 UTC.');
    const record = await shown('c3', {});
    expect(record === null ? '' : recordText(record, en)).toMatch(/^VALID, as of 2026-03-01 10:49:00\.000 UTC: ct_/);
    const untrusted = await verify({}, { trustAnchors: [] });
    expect(terminalReport(untrusted, en)).toMatch(/^INDETERMINATE, as of an unproved time: /);
  });

  test.each<[string, PackageHooks, Partial<VerifyOptions>, string, string]>([
    ['made a day after its newest stamp', exported('2026-03-02T10:49:00.000Z'), {}, 'valid', 'pass'],
    ['made later than that', exported('2026-03-02T10:49:00.001Z'), {}, 'indeterminate', 'indeterminate'],
    [
      'made later, with a longer limit',
      exported('2026-03-03T10:00:00.000Z'),
      { maxAge: 365 * 86_400_000 },
      'valid',
      'pass',
    ],
    ['made after the time of verification', exported('2026-06-01T00:05:00.001Z'), {}, 'invalid', 'fail'],
    ['of the archive', {}, { at: new Date('2035-01-01') }, 'valid', 'pass'],
    [
      'of the archive, with a limit to now',
      {},
      { at: VERIFIED_AT, maxAge: 86_400_000 },
      'indeterminate',
      'indeterminate',
    ],
    ['of just now, with a limit to now', {}, { at: minute(70), maxAge: 86_400_000 }, 'valid', 'pass'],
  ])('%s', async (_, hooks, options, verdict, outcome) => {
    const report = await verify(hooks, options);
    expect(report.checks.find(({ id }) => id === 'time.fresh')?.outcome).toBe(outcome);
    expect(report.verdict).toBe(verdict);
  });

  test('after the end of its stamps it is open, unless a newer stamp renews them', async () => {
    const soundUntil = (await verify({})).sound_until?.date ?? '';
    const before = await verify({}, { at: new Date(Date.parse(soundUntil) - 1) });
    expect(before.verdict).toBe('valid');
    const after = await verify({}, { at: new Date(soundUntil) });
    expect(after.verdict).toBe('indeterminate');
    expect(after.sound_until).toBeNull();
    expect(after.checks.find(({ id }) => id === 'tst.algorithms')?.problems[0]?.message).toContain('sound');
  });
});

describe('messages', () => {
  test('a development stamp never makes a plain “valid”', async () => {
    const text = 'VALID, BUT NOT EVIDENCE, as of ';
    const report = await verify({ manifest: (one) => ({ ...one, development: true }) });
    expect(terminalReport(report, en)).toMatch(new RegExp(`^${text}`));
    const page = renderHtml(reportPage(report, en));
    expect(page).toContain('<strong>Valid, but not evidence</strong>');
    expect(page).toContain('<section class="verdict indeterminate">');
    expect(page).not.toContain('<section class="verdict valid">');
    const record = await shown('c3', { manifest: (one) => ({ ...one, development: true }) });
    expect(record).toMatchObject({ verdict: 'valid', development: true });
    expect(record === null ? '' : recordText(record, en)).toMatch(new RegExp(`^${text}`));
  });

  test('a development authority is recognised by its certificate, if the manifest hides it', async () => {
    const { root, newSigner } = authority;
    const name = `Fixture TSA: ${DEVELOPMENT_MARK}`;
    const extensions = [...TSA_EXTENSIONS, crlDistributionPoint('http://crl.example/root.crl')];
    const tsa = makeCertificate({ name, issuer: root, signer: newSigner(), extensions });
    const report = await verify({ authority: { root, tsa } });
    expect(report.package.development).toBe(true);
    expect(terminalReport(report, en)).toMatch(/^VALID, BUT NOT EVIDENCE, as of /);
    expect(terminalReport(report, en)).not.toContain('authorities that you trust');
  });

  test('an invalid package does not open with proved times', async () => {
    const report = await verify({ signedFiles: (files) => files.set('README.txt', new Uint8Array(3)) });
    const text = terminalReport(report, en);
    expect(text.indexOf('Proved times')).toBeGreaterThan(text.indexOf('Checks\n'));
    expect(text.indexOf('What this proves')).toBeLessThan(text.indexOf('Checks\n'));
    expect(text).toContain('of the stamped data, which may differ from the content of this package');
  });

  test('records that hold are counted, and decisions apart from them', async () => {
    const report = await verify({});
    expect(terminalReport(report, en)).toContain('records       8: 8 hold, 0 indeterminate, 0 invalid');
    expect(terminalReport(report, en)).toContain('decisions     5 accepted, 1 partial, 1 rejected, 1 withdrawn');
    expect(report.proves[0]).toContain('these 8 records (5 accepted, 1 partial, 1 rejected, 1 withdrawn)');
  });

  test('a download that was cut off is named as such', async () => {
    const zip = buildPackage(authority);
    await expect(verifyFixture(authority, zip.subarray(0, zip.length - 4000))).rejects.toThrow(
      /download was probably cut off/,
    );
  });

  test('an old package with the newer key alone is open, and the message asks for the older key', async () => {
    const report = await verify({}, { ledgerKeys: [verifierKey(NEXT_LEDGER_KEY.verifierKey)] });
    const id = LEDGER_KEY.verifierKey.split('+')[1] ?? '';
    expect(notPassed(report)).toEqual({ 'ledger.key': 'indeterminate', 'manifest.certificate': 'indeterminate' });
    expect(report.checks.find((check) => check.id === 'ledger.key')?.message).toContain(`signed by key ${id}`);
    expect(report.proves).toEqual([en.evidence.unknownLedger]);
    const text = terminalReport(report, en);
    expect(text).toContain('Nothing is confirmed about these 8 records: their ledger is unknown.');
    expect(text).toContain('records       8: 0 hold, 8 indeterminate, 0 invalid');
  });

  test('records without a stamp name that cause once', async () => {
    const report = await verify({}, { trustAnchors: [] });
    expect(notPassed(report)).toMatchObject({ 'time.stamped': 'indeterminate' });
    expect(notPassed(report)).not.toHaveProperty('time.claimed');
  });
});
