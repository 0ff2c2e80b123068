import { expect, it } from 'vitest';
import { base32, otpauthUri, stepOfCode, totpCode } from '../../../src/accounts/second-factor/factor-secrets.js';

const SECRET = Buffer.from('12345678901234567890', 'ascii');

// RFC 6238, appendix B: the last six of the eight digits.
it.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('computes the code of RFC 6238 at %i s', (seconds, code) => {
  expect(totpCode(SECRET, Math.floor(seconds / 30))).toBe(code);
  expect(stepOfCode(SECRET, code, seconds, null)).toBe(Math.floor(seconds / 30));
});

it('takes codes of one step before and after, and no others', () => {
  const now = 1_000_000 * 30 + 7;
  const steps = [-2, -1, 0, 1, 2].map((skew) => stepOfCode(SECRET, totpCode(SECRET, 1_000_000 + skew), now, null));
  expect(steps).toEqual([null, 999_999, 1_000_000, 1_000_001, null]);
});

it('takes no code of a step up to the last one that was used', () => {
  const now = 1_000_000 * 30;
  expect(stepOfCode(SECRET, totpCode(SECRET, 1_000_000), now, 1_000_000)).toBeNull();
  expect(stepOfCode(SECRET, totpCode(SECRET, 999_999), now, 1_000_000)).toBeNull();
  expect(stepOfCode(SECRET, totpCode(SECRET, 1_000_001), now, 1_000_000)).toBe(1_000_001);
  expect(stepOfCode(SECRET, 'six', now, null)).toBeNull();
});

it('writes base32 of RFC 4648, and the URI of authenticator apps', () => {
  expect(base32(Buffer.from('foobarfoob', 'ascii'))).toBe('mzxw6ytbojtg633c');
  expect(otpauthUri('MZXW6YTB', 'a+b@shop.example')).toBe(
    'otpauth://totp/Consent%20Ledger:a%2Bb%40shop.example?secret=MZXW6YTB&issuer=Consent%20Ledger&algorithm=SHA1&digits=6&period=30',
  );
});
