import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors.js';
import type { Keyring } from '../../platform/keys/index.js';
import { ExportUnreadable, exportKey, openChunk } from './export-key.js';
import { type ExportId, readSecretRow } from './exports.js';

import { CHUNK_BYTES } from './run-export.js';

/** A package that is stored and readable. */
export interface KeptPackage {
  readonly siteId: string;
  readonly exportId: string;
  readonly key: Uint8Array;
  readonly bytes: number;
  readonly chunks: number;
  /** SHA-256 of the whole package, 32 bytes. */
  readonly sha256: Uint8Array;
}

const bytes = z.instanceof(Uint8Array);

/**
 * Finds the package of an export.
 * @param db a handle in the role `consent_ledger_api`
 * @throws RequestRefused RESOURCE_NOT_FOUND, EXPORT_NOT_FINISHED, EXPORT_GONE; KeyError
 */
export async function findPackage(
  db: Queryable,
  keyring: Pick<Keyring, 'siteKey'>,
  { siteId, exportId }: ExportId,
): Promise<KeptPackage> {
  const row = await readSecretRow(db, { siteId, exportId });
  const { state, seed, chunks, sha256, bytes: size } = row;
  if (state === 'queued' || state === 'running') throw new RequestRefused('EXPORT_NOT_FINISHED');
  if (state !== 'finished' || seed === null || chunks === null || sha256 === null) {
    throw new RequestRefused('EXPORT_GONE', GONE[`${state}/${row.reason}`] ?? GONE[state]);
  }
  const key = exportKey(await keyring.siteKey(siteId), seed, exportId);
  return { siteId, exportId, key, bytes: size, chunks, sha256 };
}

const GONE: Readonly<Record<string, string>> = {
  'cancelled/erasure': 'Personal data of the site was erased, and the key of this package with it. Export again.',
  cancelled: 'The export was cancelled and has no package. Export again.',
  failed: 'The export failed and has no package. Read its reason, and export again.',
  expired: 'The retention period of the package has ended, and it was deleted. Export again.',
};

/** A part of a package: offsets of its first and last byte, both inclusive. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

const ChunkRows = z.array(z.object({ is_kept: z.boolean(), ciphertext: bytes.nullable() })).max(1);

/**
 * Reads a range of a package chunk by chunk. Each chunk is authenticated before it is returned.
 * Each read is a separate statement, and fails once the key is destroyed.
 * @throws ExportUnreadable if a chunk is missing or was altered; RequestRefused EXPORT_GONE if the
 *   package is no longer kept
 */
export async function* readPackage(
  db: Queryable,
  { exportId, key, bytes: size, chunks }: KeptPackage,
  { first, last }: ByteRange,
): AsyncGenerator<Buffer, void> {
  for (let index = Math.floor(first / CHUNK_BYTES); index * CHUNK_BYTES <= last; index += 1) {
    const isLast = index === chunks - 1;
    const piece = openChunk(key, exportId, { index, isLast }, await readChunk(db, exportId, index));
    if (piece.length !== (isLast ? size - index * CHUNK_BYTES : CHUNK_BYTES)) {
      throw new ExportUnreadable(`piece ${index} of export ${exportId} is not as long as it was`);
    }
    const start = index * CHUNK_BYTES;
    yield piece.subarray(Math.max(0, first - start), last - start + 1);
  }
}

async function readChunk(db: Queryable, exportId: string, index: number): Promise<Uint8Array> {
  const { rows } = await db.query(
    `select e.seed is not null as is_kept, c.ciphertext from exports e
       left join export_chunks c on c.export_id = e.id and c.index = $2
      where e.id = $1`,
    [exportId, index],
  );
  const [row] = ChunkRows.parse(rows);
  if (row?.is_kept !== true) throw new RequestRefused('EXPORT_GONE');
  if (row.ciphertext === null) throw new ExportUnreadable(`piece ${index} of export ${exportId} is missing`);
  return row.ciphertext;
}
