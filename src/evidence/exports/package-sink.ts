import { Writable } from 'node:stream';
import { type Sha256Stream, sha256Stream } from '../../../schemas/crypto/digest.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { ClaimedExport, StoredPackage } from './claim.js';
import { sealChunk } from './export-key.js';

/** Plaintext of a piece; the last one may be shorter. */
export const CHUNK_BYTES = 1_048_576;

export interface PackageSinkOptions {
  /** As `consent_ledger_worker`. */
  readonly db: Queryable;
  readonly job: Pick<ClaimedExport, 'id' | 'claim'>;
  /** Of the export. */
  readonly key: Uint8Array;
  readonly maxBytes: number;
}

/** The run must not go on: its export was cancelled, erased or taken over. */
export class ExportStopped extends Error {
  override readonly name = 'ExportStopped';
}

/** The package is larger than the configuration allows. */
export class PackageTooLarge extends Error {
  override readonly name = 'PackageTooLarge';
}

/**
 * Takes a package as a stream, and keeps it in encrypted pieces. Whoever writes waits for the database: one piece is in memory at a time. Each piece is a
 * statement of its own, and only the run that holds the export's claim can store it.
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
    // It may be destroyed before anybody writes to it: whoever does learns of the error then.
    this.on('error', () => undefined);
  }

  /** Bytes taken so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @throws Error unless the stream has ended well */
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
      // A full piece waits until something follows: only then is it known not to be the last.
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
    // The lock lets whoever takes the export over wait until this piece is there, to be removed.
    const { rowCount } = await db.query(
      `with mine as (
         select j.export_id from export_jobs j join exports e on e.id = j.export_id
          where j.export_id = $1 and j.claim = $2 and e.state = 'queued' and e.seed is not null for share of j)
       insert into export_chunks (export_id, index, ciphertext) select export_id, $3, $4 from mine`,
      [job.id, job.claim, place.index, ciphertext],
    );
    if (rowCount !== 1) throw new ExportStopped(`export ${job.id} was cancelled, erased or taken over`);
    this.#index += 1;
    this.#used = 0;
  }
}
