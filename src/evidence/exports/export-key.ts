import { randomBytes } from 'node:crypto';
import { decrypt, encrypt, NONCE_BYTES } from '../../platform/keys/aes-gcm.js';
import { hmacSha256, SEED_BYTES } from '../../platform/keys/index.js';

const LABEL = Buffer.from('export', 'ascii');

/**
 * Values, in addition to the package, that are encrypted under an export's key. The name is
 * authenticated, so that one value cannot replace another.
 */
export type ExportSecret = 'visitor' | 'filter-disclosures';

/**
 * Creates the seed from which, with the site's key, the export's key is derived. It is stored only
 * in the export's row of `exports`.
 */
export function newExportSeed(): Buffer {
  return randomBytes(SEED_BYTES);
}

/**
 * Derives the key for all personal data of an export: HMAC-SHA256(site key, 'export' ‖ seed ‖
 * export id). Deleting the seed destroys the key.
 * @param siteKey 32 bytes
 * @param exportId UUID
 * @returns 32 bytes
 * @throws RangeError if the seed has another length
 */
export function exportKey(siteKey: Uint8Array, seed: Uint8Array, exportId: string): Buffer {
  if (seed.length !== SEED_BYTES) throw new RangeError(`a seed has ${SEED_BYTES} bytes, not ${seed.length}`);
  return hmacSha256(siteKey, Buffer.concat([LABEL, seed, Buffer.from(exportId.replaceAll('-', ''), 'hex')]));
}

/** Encrypts a value, bound to the export and the value's name. @returns the layout of `encrypt` */
export function sealSecret(key: Uint8Array, exportId: string, name: ExportSecret, value: string): Buffer {
  return encrypt(key, Buffer.from(value, 'utf8'), secretAad(exportId, name), randomBytes(NONCE_BYTES));
}

/** Decrypts a value of `sealSecret`. @throws ExportUnreadable */
export function openSecret(key: Uint8Array, exportId: string, name: ExportSecret, blob: Uint8Array): string {
  const value = decrypt(key, blob, secretAad(exportId, name));
  if (value === undefined) throw new ExportUnreadable(`the ${name} of export ${exportId} cannot be decrypted`);
  return value.toString('utf8');
}

/**
 * Encrypts one chunk of a package. The chunk is bound to the export, its index, and whether it is
 * the last: a missing, exchanged or truncated chunk is detected.
 */
export function sealChunk(key: Uint8Array, exportId: string, place: ChunkPlace, plaintext: Uint8Array): Buffer {
  return encrypt(key, plaintext, chunkAad(exportId, place), randomBytes(NONCE_BYTES));
}

/** Decrypts a chunk. @throws ExportUnreadable if the chunk was altered or belongs at another position */
export function openChunk(key: Uint8Array, exportId: string, place: ChunkPlace, blob: Uint8Array): Buffer {
  const plaintext = decrypt(key, blob, chunkAad(exportId, place));
  if (plaintext === undefined) {
    throw new ExportUnreadable(
      `piece ${place.index} of export ${exportId} was altered, or is not the one of its place`,
    );
  }
  return plaintext;
}

/** Position of a chunk in its package. */
export interface ChunkPlace {
  readonly index: number;
  readonly isLast: boolean;
}

/** The stored data of an export differs from what was written. An operator must find the cause. */
export class ExportUnreadable extends Error {
  override readonly name = 'ExportUnreadable';
}

function chunkAad(exportId: string, { index, isLast }: ChunkPlace): Uint8Array {
  return Buffer.from(`export-chunk\0${exportId}\0${index}\0${isLast ? 'last' : 'more'}`, 'utf8');
}

function secretAad(exportId: string, name: ExportSecret): Uint8Array {
  return Buffer.from(`export-secret\0${exportId}\0${name}`, 'utf8');
}
