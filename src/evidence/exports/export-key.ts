import { randomBytes } from 'node:crypto';
import { hmacSha256, SEED_BYTES } from '../../platform/keys/index.js';
import { NONCE_BYTES, open, seal } from '../../platform/keys/sealed-box.js';

const LABEL = Buffer.from('export', 'ascii');

/** What is encrypted under an export's key, beside the package: none can stand in for another. */
export type ExportSecret = 'visitor' | 'filter-disclosures';

/** What an export's key is made from together with the site's: kept in its row of `exports`, and nowhere else. */
export function newExportSeed(): Buffer {
  return randomBytes(SEED_BYTES);
}

/**
 * The key of everything personal that is kept of an export: HMAC-SHA256(site key, 'export' ‖ seed ‖ export id). Deleting the seed destroys it.
 * @param siteKey 32 bytes
 * @param exportId UUID
 * @returns 32 bytes
 */
export function exportKey(siteKey: Uint8Array, seed: Uint8Array, exportId: string): Buffer {
  if (seed.length !== SEED_BYTES) throw new RangeError(`a seed has ${SEED_BYTES} bytes, not ${seed.length}`);
  return hmacSha256(siteKey, Buffer.concat([LABEL, seed, Buffer.from(exportId.replaceAll('-', ''), 'hex')]));
}

/** Encrypts a value, bound to the export and its own name. @returns the layout of `seal` */
export function sealSecret(key: Uint8Array, exportId: string, name: ExportSecret, value: string): Buffer {
  return seal(key, Buffer.from(value, 'utf8'), secretAad(exportId, name), randomBytes(NONCE_BYTES));
}

/** @throws ExportUnreadable */
export function openSecret(key: Uint8Array, exportId: string, name: ExportSecret, blob: Uint8Array): string {
  const value = open(key, blob, secretAad(exportId, name));
  if (value === undefined) throw new ExportUnreadable(`the ${name} of export ${exportId} cannot be decrypted`);
  return value.toString('utf8');
}

/**
 * Encrypts one piece of a package, bound to the export, its place, and whether it is the last: pieces that were left out, exchanged, or cut off at
 * the end are noticed.
 */
export function sealChunk(key: Uint8Array, exportId: string, place: ChunkPlace, plaintext: Uint8Array): Buffer {
  return seal(key, plaintext, chunkAad(exportId, place), randomBytes(NONCE_BYTES));
}

/** @throws ExportUnreadable if it was altered, or belongs to another place */
export function openChunk(key: Uint8Array, exportId: string, place: ChunkPlace, blob: Uint8Array): Buffer {
  const plaintext = open(key, blob, chunkAad(exportId, place));
  if (plaintext === undefined) {
    throw new ExportUnreadable(
      `piece ${place.index} of export ${exportId} was altered, or is not the one of its place`,
    );
  }
  return plaintext;
}

/** Where a piece stands in its package. */
export interface ChunkPlace {
  readonly index: number;
  readonly isLast: boolean;
}

/** What is kept of an export is not what was written. An operator has to find out why. */
export class ExportUnreadable extends Error {
  override readonly name = 'ExportUnreadable';
}

function chunkAad(exportId: string, { index, isLast }: ChunkPlace): Uint8Array {
  return Buffer.from(`export-chunk\0${exportId}\0${index}\0${isLast ? 'last' : 'more'}`, 'utf8');
}

function secretAad(exportId: string, name: ExportSecret): Uint8Array {
  return Buffer.from(`export-secret\0${exportId}\0${name}`, 'utf8');
}
