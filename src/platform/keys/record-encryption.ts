import { randomFillSync } from 'node:crypto';
import { decrypt, encrypt, NONCE_BYTES } from './aes-gcm.js';
import { KeyError } from './errors.js';
import { hmacSha256 } from './hmac.js';

/** Random bytes in small pieces, at a fraction of the cost of one generator call per piece. */
export interface RandomPool {
  /** @returns `count` bytes (at most 1,024) that are never returned again */
  take(count: number): Buffer;
}

const POOL_BYTES = 16_384;
const MAX_TAKE = 1_024;

/**
 * Creates a pool over the system's cryptographic generator. A returned piece is never overwritten,
 * because each refill is a new buffer.
 */
export function createRandomPool(): RandomPool {
  let pool = Buffer.alloc(0);
  let used = 0;
  return {
    take(count) {
      if (!Number.isInteger(count) || count < 0 || count > MAX_TAKE) throw new RangeError(`cannot take ${count} bytes`);
      if (used + count > pool.length) {
        pool = randomFillSync(Buffer.allocUnsafeSlow(POOL_BYTES));
        used = 0;
      }
      used += count;
      return pool.subarray(used - count, used);
    },
  };
}

/**
 * Length in bytes of the random seed in a record's key row. Deleting the seed destroys the record's
 * key.
 */
export const SEED_BYTES = 16;

/** An encrypted part of a record. No part can replace another. */
export type RecordPart = 'disclosures' | `attachment:${string}`;

export const RECORD_LABEL = Buffer.from('record', 'ascii');
const TOKEN_LABEL = Buffer.from('approval-token', 'ascii');
const PERSON_LABEL = Buffer.from('person', 'ascii');

/**
 * Derives the key that encrypts the personal part of a record: HMAC-SHA256(site key, 'record' ‖
 * seed ‖ event id).
 * @param siteKey 32 bytes
 * @param seed `SEED_BYTES` random bytes, stored only in `record_keys`
 * @param eventId UUID
 * @returns 32 bytes
 */
export function recordKey(siteKey: Uint8Array, seed: Uint8Array, eventId: string): Buffer {
  return derive(siteKey, RECORD_LABEL, seed, uuidBytes(eventId));
}

/**
 * Derives the key that encrypts the identity details of an approval token, in the same way.
 * @param tokenId `atk_…`
 */
export function approvalTokenKey(siteKey: Uint8Array, seed: Uint8Array, tokenId: string): Buffer {
  return derive(siteKey, TOKEN_LABEL, seed, Buffer.from(tokenId, 'utf8'));
}

/**
 * Derives the id of a person, from which the tags of the person's records are derived
 * (`schemas/evidence/person-tag.ts`).
 * @param siteKey 32 bytes
 * @param seed 32 random bytes; deleting them destroys the id
 * @param visitorIndex blind index of the visitor id
 * @returns 32 bytes
 */
export function personId(siteKey: Uint8Array, seed: Uint8Array, visitorIndex: Uint8Array): Buffer {
  return derive(siteKey, PERSON_LABEL, seed, visitorIndex);
}

/**
 * Encrypts one part of a record, bound to the text event id ‖ 0 ‖ the part's name.
 * @param key result of `recordKey`
 * @returns version (1 byte) ‖ nonce (12) ‖ ciphertext ‖ tag (16)
 */
export function encryptForRecord(
  key: Uint8Array,
  eventId: string,
  part: RecordPart,
  plaintext: Uint8Array,
  random: RandomPool,
): Buffer {
  return encrypt(key, plaintext, partAad(eventId, part), random.take(NONCE_BYTES));
}

/**
 * @throws KeyError `decrypt_failed` if the key belongs to another record, or the blob was altered
 *   or moved
 */
export function decryptForRecord(key: Uint8Array, eventId: string, part: RecordPart, blob: Uint8Array): Buffer {
  const plaintext = decrypt(key, blob, partAad(eventId, part));
  if (plaintext === undefined) {
    throw new KeyError(
      'decrypt_failed',
      `The ${part} of event ${eventId} cannot be decrypted: it was altered, or belongs to another key.`,
    );
  }
  return plaintext;
}

/**
 * Encrypts the identity details of an approval token, bound to the token's id.
 * @param key result of `approvalTokenKey`
 */
export function encryptForToken(key: Uint8Array, tokenId: string, plaintext: Uint8Array, random: RandomPool): Buffer {
  return encrypt(key, plaintext, Buffer.from(tokenId, 'utf8'), random.take(NONCE_BYTES));
}

/** @throws KeyError `decrypt_failed` */
export function decryptForToken(key: Uint8Array, tokenId: string, blob: Uint8Array): Buffer {
  const plaintext = decrypt(key, blob, Buffer.from(tokenId, 'utf8'));
  if (plaintext === undefined) {
    throw new KeyError('decrypt_failed', `The details of approval token ${tokenId} cannot be decrypted.`);
  }
  return plaintext;
}

function derive(siteKey: Uint8Array, label: Uint8Array, seed: Uint8Array, id: Uint8Array): Buffer {
  // A fixed length makes the boundary between seed and id unambiguous.
  if (seed.length !== SEED_BYTES) throw new RangeError(`a seed has ${SEED_BYTES} bytes, not ${seed.length}`);
  return hmacSha256(siteKey, Buffer.concat([label, seed, id]));
}

function uuidBytes(uuid: string): Buffer {
  const bytes = Buffer.from(uuid.replaceAll('-', ''), 'hex');
  if (bytes.length !== 16 || uuid.length !== 36) throw new RangeError('an event id is a UUID');
  return bytes;
}

function partAad(eventId: string, part: RecordPart): Buffer {
  return Buffer.from(`${eventId}\0${part}`, 'utf8');
}
