import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  approvalTokenKey,
  createRandomPool,
  decryptForRecord,
  decryptForToken,
  encryptForRecord,
  encryptForToken,
  recordKey,
  SEED_BYTES,
} from '../../../src/platform/keys/index.js';

const random = createRandomPool();
const siteKey = randomBytes(32);
const eventId = '018f3c5e-7a2b-7c4d-8e9f-0123456789ab';

describe('record keys', () => {
  it('are HMAC-SHA256(site key, record ‖ seed ‖ event id)', () => {
    const seed = randomBytes(SEED_BYTES);
    const message = Buffer.concat([Buffer.from('record'), seed, Buffer.from(eventId.replaceAll('-', ''), 'hex')]);
    expect(recordKey(siteKey, seed, eventId)).toEqual(createHmac('sha256', siteKey).update(message).digest());
  });

  it('change with site, seed, event and use', () => {
    const seed = randomBytes(SEED_BYTES);
    const keys = [
      recordKey(siteKey, seed, eventId),
      recordKey(randomBytes(32), seed, eventId),
      recordKey(siteKey, randomBytes(SEED_BYTES), eventId),
      recordKey(siteKey, seed, randomUUID()),
      approvalTokenKey(siteKey, seed, eventId),
    ];
    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(keys.length);
  });

  it('refuse a seed or an event id of another length', () => {
    expect(() => recordKey(siteKey, randomBytes(15), eventId)).toThrow(RangeError);
    expect(() => recordKey(siteKey, randomBytes(SEED_BYTES), 'not a uuid')).toThrow(RangeError);
  });
});

describe('encryption of records', () => {
  const key = recordKey(siteKey, randomBytes(SEED_BYTES), eventId);

  it('decrypts to the plaintext, of any length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5000 }), (plaintext) => {
        const blob = encryptForRecord(key, eventId, 'disclosures', plaintext, random);
        expect(blob).toHaveLength(1 + 12 + plaintext.length + 16);
        expect(Buffer.compare(decryptForRecord(key, eventId, 'disclosures', blob), plaintext)).toBe(0);
      }),
    );
  });

  it('never produces the same ciphertext twice', () => {
    const plaintext = Buffer.from('same');
    const blobs = Array.from({ length: 2000 }, () => encryptForRecord(key, eventId, 'disclosures', plaintext, random));
    expect(new Set(blobs.map((blob) => blob.subarray(1, 13).toString('hex'))).size).toBe(blobs.length);
  });

  it('decrypts only with the right key, event and part', () => {
    const blob = encryptForRecord(key, eventId, 'attachment:signature_image', Buffer.from('image'), random);
    const refused = { code: 'decrypt_failed' };
    const attempt = (work: () => unknown) => expect(work).toThrow(expect.objectContaining(refused));
    attempt(() => decryptForRecord(randomBytes(32), eventId, 'attachment:signature_image', blob));
    attempt(() => decryptForRecord(key, randomUUID(), 'attachment:signature_image', blob));
    attempt(() => decryptForRecord(key, eventId, 'disclosures', blob));
  });

  it('refuses a blob with one changed bit, or a truncated one', () => {
    const blob = encryptForRecord(key, eventId, 'disclosures', Buffer.from('[1,2,3]'), random);
    for (let bit = 0; bit < blob.length * 8; bit++) {
      const changed = Buffer.from(blob);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => decryptForRecord(key, eventId, 'disclosures', changed)).toThrow(/cannot be decrypted/);
    }
    for (let length = 0; length < blob.length; length++) {
      const cut = blob.subarray(0, length);
      expect(() => decryptForRecord(key, eventId, 'disclosures', cut)).toThrow(/cannot be decrypted/);
    }
  });

  it('binds the details of an approval token to the token', () => {
    const tokenKey = approvalTokenKey(siteKey, randomBytes(SEED_BYTES), 'atk_1');
    const blob = encryptForToken(tokenKey, 'atk_1', Buffer.from('Ada'), random);
    expect(decryptForToken(tokenKey, 'atk_1', blob).toString()).toBe('Ada');
    expect(() => decryptForToken(tokenKey, 'atk_2', blob)).toThrow(/cannot be decrypted/);
  });
});

describe('the pool of random bytes', () => {
  it('returns no byte twice', () => {
    const pool = createRandomPool();
    const pieces = Array.from({ length: 5000 }, () => pool.take(16));
    expect(new Set(pieces.map((piece) => piece.toString('hex'))).size).toBe(pieces.length);
  });

  it('refuses a request above its limit', () => {
    const pool = createRandomPool();
    for (const count of [-1, 0.5, 1025]) expect(() => pool.take(count)).toThrow(RangeError);
    expect(pool.take(1024)).toHaveLength(1024);
  });
});
