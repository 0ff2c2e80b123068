import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  cosignatureMessage,
  isCosignatureBy,
  parseCosignatures,
  parseWitnessKey,
  verifyCosignature,
} from '../../schemas/evidence/cosignature.js';
import type { VerifierKey } from '../../schemas/evidence/signed-note.js';
import { en } from '../../verifier-cli/src/i18n/en/index.js';
import { terminalReport, type VerificationReport } from '../../verifier-cli/src/index.js';
import { cosignatureLine, mlDsaLine, mlDsaNoteKey, type NoteKey, noteKey } from '../support/independent-tlog.js';
import { fixtureAuthority, LEDGER_KEY, VERIFIED_AT } from '../support/ledger-fixture.js';
import { titleNeeding } from '../support/missing-tools.js';
import { hasOpenssl } from '../support/openssl-tsa.js';
import { buildPackage, type Files } from '../support/package-builder.js';
import { isExhaustive, sampled } from '../support/sweeps.js';
import { hasPython, verifyByHand } from './by-hand.js';
import { notPassed, verifierKey, verifyFixture } from './support.js';

const authority = fixtureAuthority();
const W1 = noteKey('witness.example/w1', 4);
const W2 = noteKey('witness.example/w2', 4);
const STRANGER = noteKey('stranger.example', 4);
const TIME = Date.parse('2026-02-01T00:00:00Z') / 1000;
const NEWEST = 5;

const keyOf = ({ vkey }: { readonly vkey: string }): VerifierKey => {
  const key = parseWitnessKey(vkey);
  if (key === null) throw new Error(`not a key of a witness: ${vkey}`);
  return key;
};

/** The text of a note in the package, without its signatures. */
const textOf = (files: Files, size: number): string => {
  const note = Buffer.from(files.get(`checkpoints/${size}.note`) ?? '').toString('utf8');
  return note.slice(0, note.lastIndexOf('\n\n') + 1);
};

/** A package with this content of `<size>.cosignatures`; null: without the file. */
const packageWith = (make: (text: string) => string | Uint8Array | null, size = NEWEST): Uint8Array =>
  buildPackage(authority, {
    files: (files) => {
      const content = make(textOf(files, size));
      if (content !== null) files.set(`checkpoints/${size}.cosignatures`, Buffer.from(content));
    },
  });

const check = (
  zip: Uint8Array,
  keys: readonly NoteKey[],
  required: number | null = null,
): Promise<VerificationReport> => verifyFixture(authority, zip, { witnesses: { keys: keys.map(keyOf), required } });

const outcomeOf = ({ checks }: VerificationReport) => checks.find(({ id }) => id === 'ledger.witnesses')?.outcome;

test('the message that a witness signs is the one of the specification', () => {
  const text = 'example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n';
  expect(Buffer.from(cosignatureMessage(1_679_315_147, text)).toString()).toBe(
    `cosignature/v1\ntime 1679315147\n${text}`,
  );
});

describe('cosignatures in a package', () => {
  const both = (text: string) => cosignatureLine(W1, text, TIME) + cosignatureLine(W2, text, TIME + 1);

  test('are reported with the witness and the time that it states', async () => {
    const report = await check(packageWith(both), [W1, W2], 2);
    expect(report.verdict).toBe('valid');
    expect(report.witnesses).toEqual({
      checkpoint: NEWEST,
      required: 2,
      cosigned: [
        { name: W1.name, time: '2026-02-01T00:00:00.000Z' },
        { name: W2.name, time: '2026-02-01T00:00:01.000Z' },
      ],
      missing: [],
      others: 0,
    });
    expect(terminalReport(report, en)).toContain(
      'witness.example/w1 cosigned it. It states the time 2026-02-01T00:00:00.000Z.',
    );
    expect(report.proves.join('\n')).toContain('2 witnesses that you trust (witness.example/w1, witness.example/w2)');
  });

  test('by unknown witnesses are ignored, even if they are invalid', async () => {
    const zip = packageWith((text) => cosignatureLine(STRANGER, `${text}x`, TIME) + cosignatureLine(W1, text, TIME));
    const report = await check(zip, [W1], 1);
    expect(report.verdict).toBe('valid');
    expect(report.witnesses).toMatchObject({ cosigned: [{ name: W1.name }], others: 1 });
    expect((await check(zip, [])).verdict).toBe('valid');
  });

  test('that are too few leave the verdict open only if a number is required', async () => {
    const zip = packageWith((text) => cosignatureLine(W1, text, TIME));
    expect(notPassed(await check(zip, [W1, W2], 2))).toEqual({ 'ledger.witnesses': 'indeterminate' });
    const report = await check(zip, [W1, W2]);
    expect(report).toMatchObject({ verdict: 'valid', witnesses: { missing: [W2.name] } });
    const none = packageWith(() => null);
    expect(outcomeOf(await check(none, [W1]))).toBe('not-applicable');
    expect(notPassed(await check(none, [W1], 1))).toEqual({ 'ledger.witnesses': 'indeterminate' });
  });

  test('with ML-DSA-44 and Ed25519 are of one witness, and count from 2036 only with ML-DSA-44', async () => {
    const [first, second] = [mlDsaNoteKey(W1.name), mlDsaNoteKey(W2.name)];
    const keys = [W1, first, second].map(keyOf);
    const zip = packageWith((text) => cosignatureLine(W1, text, TIME) + mlDsaLine(first, text, TIME));
    const verify = (required: number, at = VERIFIED_AT, bytes = zip) =>
      verifyFixture(authority, bytes, { witnesses: { keys, required }, at });
    const report = await verify(1);
    expect(report.verdict).toBe('valid');
    expect(report.witnesses).toMatchObject({ cosigned: [{ name: W1.name }], missing: [W2.name] });
    expect(outcomeOf(await verify(2))).toBe('indeterminate');
    const later = new Date('2036-01-01T00:00:00Z');
    expect(outcomeOf(await verify(1, later))).toBe('pass');
    const classical = packageWith((text) => cosignatureLine(W1, text, TIME));
    expect(outcomeOf(await verify(1, VERIFIED_AT, classical))).toBe('pass');
    expect(outcomeOf(await verify(1, later, classical))).toBe('indeterminate');
    const wrong = packageWith((text) => mlDsaLine(first, text.replace(/\n\d+\n/, '\n4\n'), TIME));
    expect(outcomeOf(await verify(1, VERIFIED_AT, wrong))).toBe('fail');
  });

  test('over an older checkpoint do not count for the newest one', async () => {
    const zip = packageWith((text) => cosignatureLine(W1, text, TIME), 4);
    expect(notPassed(await check(zip, [W1], 1))).toEqual({ 'ledger.witnesses': 'indeterminate' });
    expect((await check(zip, [W1])).verdict).toBe('valid');
  });

  test.each<[string, (text: string) => string | Uint8Array]>([
    ['over another text', (text) => cosignatureLine(W1, `${text}x`, TIME)],
    ['over the text without its last line feed', (text) => cosignatureLine(W1, text.slice(0, -1), TIME)],
    ['with the time zero', (text) => cosignatureLine(W1, text, 0)],
    ['twice by one witness', (text) => cosignatureLine(W1, text, TIME).repeat(2)],
    ['that are cut off', (text) => cosignatureLine(W1, text, TIME).slice(0, -1)],
    ['in an empty file', () => ''],
    ['with an empty line', (text) => `\n${cosignatureLine(W1, text, TIME)}`],
    ['with a carriage return', (text) => cosignatureLine(W1, text, TIME).replace('\n', '\r\n')],
    [
      'in more than 100 lines',
      (text) => cosignatureLine(W1, text, TIME) + cosignatureLine(STRANGER, text, 1).repeat(500),
    ],
    ['that are not UTF-8', () => Buffer.from([0xff, 0x0a])],
  ])('%s are refused', async (_, make) => {
    const report = await check(packageWith(make), [W1]);
    expect(report.verdict).toBe('invalid');
    const failed = Object.keys(notPassed(report));
    expect(failed.some((id) => id === 'ledger.witnesses' || id === 'container.limits')).toBe(true);
  });

  test('over an older checkpoint are refused if they are invalid', async () => {
    const zip = packageWith((text) => cosignatureLine(W1, `${text}x`, TIME), 2);
    expect(notPassed(await check(zip, [W1]))).toEqual({ 'ledger.witnesses': 'fail' });
  });

  test('of a checkpoint that is not included are refused', async () => {
    const zip = buildPackage(authority, {
      files: (files) => files.set('checkpoints/3.cosignatures', Buffer.from(cosignatureLine(W1, 'x\n', TIME))),
    });
    expect(notPassed(await check(zip, []))).toEqual({ 'ledger.witnesses': 'fail' });
  });

  test('from the future leave the check open', async () => {
    const late = VERIFIED_AT.getTime() / 1000 + 301;
    const zip = packageWith((text) => cosignatureLine(W1, text, late));
    expect(notPassed(await check(zip, [W1]))).toEqual({ 'ledger.witnesses': 'indeterminate' });
    const soon = packageWith((text) => cosignatureLine(W1, text, late - 1));
    expect((await check(soon, [W1], 1)).verdict).toBe('valid');
  });

  test('by the ledger key itself, as type 0x01, do not count', async () => {
    const zip = packageWith((text) => cosignatureLine(W1, text, TIME));
    const asLedger = { keys: [verifierKey(LEDGER_KEY.verifierKey)], required: 1 };
    const report = await verifyFixture(authority, zip, { witnesses: asLedger });
    expect(notPassed(report)).toEqual({ 'ledger.witnesses': 'indeterminate' });
  });

  test('are detected when any byte of a line is changed', async () => {
    const given: { text?: string } = {};
    packageWith((text) => {
      given.text = text;
      return null;
    });
    const text = given.text ?? '';
    const line = Buffer.from(cosignatureLine(W1, text, TIME));
    const flipped = (at: number, bit: number): Buffer => {
      const changed = Buffer.from(line);
      changed[at] = (changed[at] ?? 0) ^ (1 << bit);
      return changed;
    };
    const verdicts = new Set<string>();
    for (const at of sampled('flipped bytes of a cosignature', [...line.keys()])) {
      for (let bit = 0; bit < 8; bit += 1) {
        const lines = parseCosignatures(flipped(at, bit)) ?? [];
        const own = lines.filter((one) => isCosignatureBy(one, keyOf(W1)));
        const times = await Promise.all(own.map((one) => verifyCosignature(text, one, keyOf(W1))));
        expect(times.filter(Boolean), `byte ${at}, bit ${bit}`).toEqual([]);
      }
      const report = await check(
        packageWith(() => flipped(at, at % 8)),
        [W1],
        1,
      );
      expect(report.verdict, `byte ${at}`).not.toBe('valid');
      verdicts.add(report.verdict);
    }
    expect(['indeterminate', 'invalid']).toEqual(expect.arrayContaining([...verdicts]));
    if (isExhaustive()) expect(verdicts.size).toBe(2);
  });
});

describe.skipIf(!hasPython || !hasOpenssl)(
  titleNeeding('Python 3.9 or openssl', hasPython && hasOpenssl, 'verifier-cli/by-hand/verify.py --witness-key'),
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'consent-witnesses-'));
    const path = (name: string) => join(folder, name);
    afterAll(() => rmSync(folder, { recursive: true }));

    test.each<[string, Parameters<typeof packageWith>, number]>([
      ['of both witnesses confirm', [(text) => cosignatureLine(W1, text, TIME) + cosignatureLine(W2, text, TIME)], 0],
      ['of one witness leave the package open', [(text) => cosignatureLine(W1, text, TIME)], 3],
      ['that are absent leave the package open', [() => null], 3],
      [
        'over an older checkpoint leave the package open',
        [(text) => cosignatureLine(W1, text, TIME) + cosignatureLine(W2, text, TIME), 4],
        3,
      ],
      ['over another text are refused', [(text) => cosignatureLine(W1, `${text}x`, TIME)], 1],
      ['twice by one witness are refused', [(text) => cosignatureLine(W1, text, TIME).repeat(2)], 1],
      ['in a malformed file are refused', [() => 'no cosignature'], 1],
    ])('cosignatures %s', (_, made, status) => {
      const pem = Buffer.from(authority.root.der).toString('base64');
      writeFileSync(path('root.pem'), `-----BEGIN CERTIFICATE-----\n${pem}\n-----END CERTIFICATE-----\n`);
      writeFileSync(path('ledger.key'), LEDGER_KEY.verifierKey);
      writeFileSync(path('w1'), W1.vkey);
      writeFileSync(path('w2'), W2.vkey);
      writeFileSync(path('package.zip'), packageWith(...made));
      const more = ['--witness-key', path('w1'), '--witness-key', path('w2')];
      const run = verifyByHand([path('package.zip')], VERIFIED_AT, path('ledger.key'), path('root.pem'), more);
      expect(run).toMatchObject({ status, stderr: '' });
    });
  },
);
