import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hmacSha256, hmacSha256Hex } from '../../../src/platform/keys/index.js';

describe('HMAC-SHA256', () => {
  it('matches RFC 4231, test case 2', () => {
    expect(hmacSha256Hex(Buffer.from('Jefe'), 'what do ya want for nothing?')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });

  it('matches the crypto library for any key, text and bytes', () => {
    const message = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.uint8Array({ maxLength: 300 }));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), message, (key, said) => {
        const expected = createHmac('sha256', key).update(said).digest();
        expect(hmacSha256(key, said).equals(expected)).toBe(true);
        expect(hmacSha256Hex(key, said)).toBe(expected.toString('hex'));
      }),
    );
  });

  it('refuses a key longer than a block', () => {
    expect(() => hmacSha256(new Uint8Array(65), '')).toThrow(RangeError);
  });
});
