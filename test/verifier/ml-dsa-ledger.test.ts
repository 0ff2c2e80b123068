import { describe, expect, test } from 'vitest';
import { parseVerifierKey, type VerifierKey } from '../../schemas/evidence/signed-note.js';
import { compareHistories } from '../../verifier-cli/src/compare/compare.js';
import { historyOfNote } from '../../verifier-cli/src/compare/history.js';
import type { VerificationReport } from '../../verifier-cli/src/index.js';
import {
  checkpointText,
  type MlDsaNoteKey,
  mlDsaLine,
  mlDsaNoteKey,
  mlDsaTextLine,
  Tree,
} from '../support/independent-tlog.js';
import { fixtureAuthority, LEDGER_KEY, NEXT_LEDGER_KEY, ORIGIN, VERIFIED_AT } from '../support/ledger-fixture.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { verifierKey, verifyFixture } from './support.js';

const authority = fixtureAuthority();
const FIRST = mlDsaNoteKey(ORIGIN);
const NEXT = mlDsaNoteKey(ORIGIN);
const NEWEST = 5;
const ROTATED_AT = 4;
/** From here on Ed25519 does not count. */
const AFTER = new Date('2036-01-01T00:00:00Z');

const keysOf = (...lines: readonly string[]): readonly VerifierKey[] =>
  lines.map((line) => {
    const key = parseVerifierKey(line);
    if (key === null) throw new Error(`not a key of a ledger: ${line}`);
    return key;
  });
const ED = LEDGER_KEY.verifierKey;
const NEXT_ED = NEXT_LEDGER_KEY.verifierKey;
const ML = FIRST.vkey;

const verify = (zip: Uint8Array, lines: readonly string[], at: Date = VERIFIED_AT): Promise<VerificationReport> =>
  verifyFixture(authority, zip, { ledgerKeys: keysOf(...lines), at });
const outcomeOf = ({ checks }: VerificationReport, id: string) => checks.find((check) => check.id === id)?.outcome;
const textOf = (note: string): string => note.slice(0, note.lastIndexOf('\n\n') + 1);

/** A ledger that signs with both keys as documented. @param sign the further lines of a note */
function packageWith(sign: (text: string, size: number) => string, more: PackageHooks = {}): Uint8Array {
  return buildPackage(authority, {
    note: (signed, size, text) => signed + sign(text, size),
    certificate: (note) => note + mlDsaTextLine(FIRST, textOf(note)),
    ...more,
  });
}

/** The same with a change of both keys. @param announced the next keys */
function rotated(
  sign: (text: string, keys: readonly MlDsaNoteKey[]) => string,
  announced: readonly string[] = [NEXT_ED, NEXT.vkey],
): Uint8Array {
  const keysAt = (size: number) => (size < ROTATED_AT ? [FIRST] : size === ROTATED_AT ? [FIRST, NEXT] : [NEXT]);
  return packageWith((text, size) => sign(text, keysAt(size)), {
    rotateAt: ROTATED_AT,
    announcements: [{ batch: ROTATED_AT - 1, keys: announced }],
    certificate: (note) => note + mlDsaTextLine(NEXT, textOf(note)),
  });
}

const honest = (text: string, keys: readonly MlDsaNoteKey[]) => keys.map((key) => mlDsaLine(key, text, 0)).join('');
/** The checkpoint of both keys lacks one signature with ML-DSA-44. */
const signedBy = (key: MlDsaNoteKey) => (text: string, keys: readonly MlDsaNoteKey[]) =>
  honest(text, keys.length === 2 ? [key] : keys);

describe('a ledger that signs with Ed25519 and ML-DSA-44', () => {
  const zip = packageWith((text) => mlDsaLine(FIRST, text, 0));

  test.each([[[ED]], [[ML]], [[ED, ML]]])('is valid before 2036 by either key', async (keys) => {
    expect((await verify(zip, keys)).verdict).toBe('valid');
  });

  test('is judged from 2036 on by the key of ML-DSA-44 alone', async () => {
    for (const keys of [[ML], [ED, ML]]) {
      const report = await verify(zip, keys, AFTER);
      expect(outcomeOf(report, 'ledger.key')).toBe('pass');
      expect(outcomeOf(report, 'manifest.certificate')).toBe('pass');
      expect(outcomeOf(report, 'manifest.signature')).toBe('indeterminate');
    }
    const report = await verify(zip, [ED], AFTER);
    expect(outcomeOf(report, 'ledger.key')).toBe('indeterminate');
    expect(JSON.stringify(report.checks)).toContain('give the ledger key of ML-DSA-44 as well');
  });

  test.each<[string, (text: string) => string]>([
    ['over another root', (text) => mlDsaLine(FIRST, text.replace(/\n[^\n]+\n$/, `\n${'A'.repeat(43)}=\n`), 0)],
    ['over another size', (text) => mlDsaLine(FIRST, text.replace(/\n\d+\n/, '\n9\n'), 0)],
    ['of another ledger', (text) => mlDsaLine(FIRST, text.replace(ORIGIN, 'other.example'), 0)],
    ['twice', (text) => mlDsaLine(FIRST, text, 0).repeat(2)],
  ])('is invalid with a signature of a given key %s, and ignores it without that key', async (_, sign) => {
    const forged = packageWith((text, size) => (size === NEWEST ? sign(text) : mlDsaLine(FIRST, text, 0)));
    for (const keys of [[ML], [ED, ML]]) expect(outcomeOf(await verify(forged, keys), 'ledger.key')).toBe('fail');
    expect((await verify(forged, [ED])).verdict).toBe('valid');
  });

  test('does not pass by the key of ML-DSA-44 where that did not sign', async () => {
    const unsigned = packageWith((text, size) => (size === NEWEST ? '' : mlDsaLine(FIRST, text, 0)));
    expect(outcomeOf(await verify(unsigned, [ML]), 'ledger.key')).toBe('fail');
    expect((await verify(unsigned, [ED, ML])).verdict).toBe('valid');
    expect(outcomeOf(await verify(unsigned, [ED, ML], AFTER), 'ledger.key')).toBe('fail');
    const uncertified = packageWith((text) => mlDsaLine(FIRST, text, 0), { certificate: (note) => note });
    expect(outcomeOf(await verify(uncertified, [ML]), 'manifest.certificate')).toBe('fail');
    expect(outcomeOf(await verify(uncertified, [ED, ML], AFTER), 'manifest.certificate')).toBe('fail');
  });
});

describe('a change of both keys', () => {
  test.each([[[ED]], [[ML]], [[NEXT_ED]], [[NEXT.vkey]]])('is followed from any of the keys', async (keys) => {
    const report = await verify(rotated(honest), keys);
    expect(report.verdict, JSON.stringify(report.checks.filter(({ outcome }) => outcome === 'fail'))).toBe('valid');
  });

  test('is followed from 2036 on by ML-DSA-44', async () => {
    const zip = rotated(honest);
    expect(outcomeOf(await verify(zip, [ED, ML], AFTER), 'ledger.key')).toBe('pass');
    expect(outcomeOf(await verify(zip, [ED], AFTER), 'ledger.key')).toBe('indeterminate');
  });

  test('is refused if the new key of ML-DSA-44 did not sign', async () => {
    expect(outcomeOf(await verify(rotated(signedBy(FIRST)), [ED, ML]), 'ledger.announcement')).toBe('fail');
  });

  test.each<[string, readonly string[]]>([
    ['another next key', [NEXT_ED, mlDsaNoteKey(ORIGIN).vkey]],
    ['one key twice', [NEXT_ED, NEXT_ED]],
    ['five keys', [NEXT_ED, NEXT.vkey, ...Array.from({ length: 3 }, () => mlDsaNoteKey(ORIGIN).vkey)]],
  ])('is refused with %s', async (_, keys) => {
    expect(outcomeOf(await verify(rotated(honest, keys), [ED, ML]), 'ledger.announcement')).toBe('fail');
  });

  test('by the Ed25519 key alone leads to no trusted key from 2036 on', async () => {
    const zip = rotated(signedBy(NEXT));
    expect((await verify(zip, [ED, ML])).verdict).toBe('valid');
    expect(outcomeOf(await verify(zip, [ED, ML], AFTER), 'ledger.key')).toBe('fail');
  });
});

describe('two checkpoints that only ML-DSA-44 signed', () => {
  const tree = Tree.random(6);
  const other = Tree.random(6);
  const noteOf = (text: string): string => `${text}\n${mlDsaLine(FIRST, text, 0)}`;
  const compare = async (a: string, b: string) => {
    const keys = [verifierKey(ML)];
    const [one, two] = [await historyOfNote(Buffer.from(a), keys), await historyOfNote(Buffer.from(b), keys)];
    if (one === null || two === null) throw new Error('not a checkpoint');
    return await compareHistories(one, two, keys, [], AFTER);
  };

  test('of one size with two roots are a contradiction', async () => {
    const { outcome } = await compare(noteOf(checkpointText(ORIGIN, tree)), noteOf(checkpointText(ORIGIN, other)));
    expect(outcome).toBe('contradiction');
  });
});
