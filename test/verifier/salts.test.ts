import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { LIMITS } from '../../verifier-cli/src/container/limits.js';
import { Salts } from '../../verifier-cli/src/entries/salts.js';
import { EntryFindings } from '../../verifier-cli/src/findings/entry-findings.js';
import { Findings } from '../../verifier-cli/src/findings/findings.js';

const disclosure = (salt: string) => ({ salt, name: 'visitor_id', value: 'x' });
const randomSalt = () => randomBytes(16).toString('base64url');

test('of 300,000 random salts none is taken for another, and each is found again', () => {
  const salts = new Salts();
  const drawn = Array.from({ length: 300_000 }, randomSalt);
  const first = new Findings();
  for (const salt of drawn) salts.accept([disclosure(salt)], new EntryFindings(first, {}));
  expect(first.outcomeOf('disclosure.salt')).toBe('pass');
  for (const salt of drawn.filter((_, i) => i % 1000 === 0)) {
    const again = new Findings();
    salts.accept([disclosure(randomSalt()), disclosure(salt)], new EntryFindings(again, {}));
    expect(again.outcomeOf('disclosure.salt')).toBe('fail');
  }
});

test('salts that differ in one character are different', () => {
  const salts = new Salts();
  const findings = new Findings();
  const base = 'A'.repeat(22);
  for (let i = 0; i < base.length; i += 1) {
    for (const other of 'BCDEFGHabcdefgh0123456789-_') {
      salts.accept([disclosure(base.slice(0, i) + other + base.slice(i + 1))], new EntryFindings(findings, {}));
    }
  }
  expect(findings.outcomeOf('disclosure.salt')).toBe('pass');
});

test('bounds memory: salts after the limit are not compared, and the report states it', () => {
  const salts = new Salts();
  const findings = new Findings();
  const group = 4096;
  for (let n = 0; n <= LIMITS.salts / group; n += 1) {
    const disclosures = Array.from({ length: group }, (_, i) => disclosure(`${n}-${i}-salt`));
    salts.accept(disclosures, new EntryFindings(findings, {}));
  }
  const result = findings.results().find(({ id }) => id === 'disclosure.salt');
  expect(result).toMatchObject({ outcome: 'indeterminate', required: false, counts: { fail: 0, indeterminate: 1 } });
  expect(result?.message).toContain('4194304');
});
