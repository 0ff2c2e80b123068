import { Writable } from 'node:stream';
import { type Sha256Stream, sha256Stream } from '../../../schemas/crypto/digest.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { ClaimedExport, StoredPackage } from './claim.js';
import { sealChunk } from './export-key.js';
import { ExportStopped } from './export-stopped.js';

/** Bytes of plaintext in a chunk; the last chunk may be shorter. */
export const CHUNK_BYTES = 1_048_576;

export interface PackageSinkOptions {
  /** In the role `consent_ledger_worker`. */
  readonly db: Queryable;
  readonly job: Pick<ClaimedExport, 'id' | 'claim'>;
  /** Key of the export. */
  readonly key: Uint8Array;
  readonly maxBytes: number;
}

/** The package is larger than the configuration allows. */
export class PackageTooLarge extends Error {
  override readonly name = 'PackageTooLarge';
}

/**
 * Writable stream that stores a package in encrypted chunks. Back-pressure keeps one chunk in
 * memory at a time. Each chunk is a separate statement, and only the run that holds the claim can
 * store it.
 */
export class PackageSink extends Writable {
  #buffer = Buffer.alloc(CHUNK_BYTES);
  #used = 0;
  #index = 0;
  #bytes = 0;
  readonly #digest: Sha256Stream = sha256Stream();
  #stored: StoredPackage | null = null;

  constructor(private readonly options: PackageSinkOptions) {
    super({ decodeStrings: true });
    // The sink may be destroyed before the first write. Without a listener, the error would end the
    // process; the next write reports it.
    this.on('error', () => undefined);
  }

  /** Bytes written so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The stored package. @throws Error unless the stream ended without an error */
  get stored(): StoredPackage {
    if (this.#stored === null) throw new Error('the package was not stored whole');
    return this.#stored;
  }

  override _write(piece: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#take(piece).then(() => done(), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#store(true).then(() => {
      this.#stored = { bytes: this.#bytes, chunks: this.#index, sha256: this.#digest.digest() };
      done();
    }, done);
  }

  async #take(piece: Buffer): Promise<void> {
    this.#bytes += piece.length;
    if (this.#bytes > this.options.maxBytes) {
      throw new PackageTooLarge(`the package is larger than ${this.options.maxBytes} bytes`);
    }
    this.#digest.update(piece);
    for (let offset = 0; offset < piece.length; ) {
      // A full chunk waits for more input, because only then is it known not to be the last.
      if (this.#used === CHUNK_BYTES) await this.#store(false);
      const copied = piece.copy(this.#buffer, this.#used, offset);
      this.#used += copied;
      offset += copied;
    }
  }

  async #store(isLast: boolean): Promise<void> {
    const { db, job, key } = this.options;
    const place = { index: this.#index, isLast };
    const ciphertext = sealChunk(key, job.id, place, this.#buffer.subarray(0, this.#used));
    // The share lock delays a takeover until this chunk is stored, so that the new run removes it.
    const { rowCount } = await db.query(
      `with mine as (
         select j.export_id from export_jobs j join exports e on e.id = j.export_id
          where j.export_id = $1 and j.claim = $2 and e.state = 'running' for share of j)
       insert into export_chunks (export_id, index, ciphertext) select export_id, $3, $4 from mine`,
      [job.id, job.claim, place.index, ciphertext],
    );
    if (rowCount !== 1) throw new ExportStopped(`export ${job.id} was cancelled, erased or taken over`);
    this.#index += 1;
    this.#used = 0;
  }
}
