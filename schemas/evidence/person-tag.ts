import * as z from 'zod';
import { sha256 } from '../crypto/digest.js';
import { concatBytes, uint64, utf8 } from '../crypto/encoding.js';
import { leafHash } from '../merkle/hashing.js';
import { Count, Sha256Hex } from './primitives.js';

const PREFIX = concatBytes(utf8('consent-ledger person tag v1'), Uint8Array.of(0));

/** Number of bytes of a person tag. */
export const PERSON_TAG_BYTES = 32;

/** Opening of a person tag: the id of the person, and the number of the record among the person's records. */
export const PersonOpening = z.strictObject({
  /** Hex. */
  id: Sha256Hex,
  n: Count.min(1),
});
export type PersonOpening = z.infer<typeof PersonOpening>;

/**
 * The tag of a person's n-th record: SHA-256("consent-ledger person tag v1" ‖ 0x00 ‖ id ‖ n as 8 bytes,
 * big-endian). Without the id, tags of one person cannot be linked.
 * @param id 32 random bytes
 * @param n a number from 1
 * @returns 32 bytes
 */
export function personTag(id: Uint8Array, n: number): Uint8Array {
  return sha256(PREFIX, id, uint64(n));
}

const ERASURE_PREFIX = concatBytes(utf8('consent-ledger erasure v1'), Uint8Array.of(0));

/**
 * The tag of a record's erasure: SHA-256("consent-ledger erasure v1" ‖ 0x00 ‖ the record's event id, 36 characters). If
 * a batch's sorted tags do not include it, the batch does not have the erasure. Someone who has only the published tags
 * cannot tell which record is erased, because only holders of the record know its id.
 * @param eventId UUID in lower case
 * @returns 32 bytes
 */
export function erasureTag(eventId: string): Uint8Array {
  return sha256(ERASURE_PREFIX, utf8(eventId));
}

/** The leaf of a tag under `tags_root`, 32 bytes. */
export function personTagLeaf(tag: Uint8Array): Uint8Array {
  return leafHash(tag);
}
