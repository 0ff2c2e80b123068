import { Writable } from 'node:stream';
import { type Sha256Stream, sha256Stream } from '../../../schemas/crypto/digest.js';
import type { EventLog } from '../../pipeline/event-log/port.js';
import { describe, type ServiceLogger } from '../../platform/background/part.js';
import { withAnySignal } from '../../platform/background/signals.js';
import { pause } from '../../platform/background/waiting.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { ExportReason } from '../../platform/export-states.js';
import type { Keyring } from '../../platform/keys/index.js';
import type { Tracing } from '../../platform/telemetry/tracing.js';
import {
  ExportFailed,
  type ExportProgress,
  type PackageRequest,
  type ReleasedVerifier,
  streamEvidence,
} from '../package/index.js';
import {
  assertClaimed,
  type ClaimedExport,
  ExportStopped,
  failExport,
  finishExport,
  giveBackExport,
  MAX_ATTEMPTS,
  noteProgress,
  removeChunks,
  type StoredPackage,
} from './claim.js';
import { exportedBy } from './create-export.js';
import { exportKey, openSecret, sealChunk, sealSecret } from './export-key.js';

export interface RunExportOptions {
  /** A handle in the role `consent_ledger_worker`. */
  readonly db: Queryable;
  readonly eventLog: EventLog;
  readonly keyring: Keyring;
  /** Origin of the ledger. */
  readonly origin: string;
  readonly verifier?: ReleasedVerifier;
  readonly logger: ServiceLogger;
  readonly tracing?: Tracing;
  /** Called between two steps of the work. */
  readonly yieldToAdmission?: () => Promise<void>;
  readonly maxBytes: number;
  readonly retentionMs: number;
  /** Interval of progress writes, in milliseconds. The claim lapses 15 s after the last one. */
  readonly progressMs?: number;
}

export type ExportOutcome = 'finished' | 'stopped' | 'failed' | 'given-back';

/**
 * Makes and stores the package of an export that this process has claimed. An error that concerns
 * only this export is logged and recorded, not thrown.
 */
export async function runExport(
  options: RunExportOptions,
  job: ClaimedExport,
  stopping: AbortSignal,
): Promise<ExportOutcome> {
  const { db, logger } = options;
  const about = { part: 'exports', export: job.id, site: job.siteId, attempt: job.attempts };
  if (job.attempts > MAX_ATTEMPTS) {
    // Each earlier worker ended without recording an outcome.
    await failExport(db, job, 'error');
    logger.error(about, 'an evidence export failed: every attempt ended early');
    return 'failed';
  }
  try {
    const isFinished = await store(options, job, stopping);
    if (isFinished) logger.info(about, 'exported');
    return isFinished ? 'finished' : 'stopped';
  } catch (error) {
    if (stopping.aborted) {
      await giveBackExport(db, job, false);
      return 'given-back';
    }
    if (error instanceof ExportStopped) return 'stopped';
    const reason = reasonOf(error, job.attempts);
    logger.warn(
      { ...about, reason: describe(error) },
      reason === null ? 'an evidence export failed; trying again' : 'an evidence export failed',
    );
    if (reason === null) await giveBackExport(db, job, true);
    else await failExport(db, job, reason);
    return reason === null ? 'given-back' : 'failed';
  }
}

/**
 * Exports into the encrypted store.
 * @returns false if the export was cancelled, erased or taken over before it finished
 */
async function store(options: RunExportOptions, job: ClaimedExport, stopping: AbortSignal): Promise<boolean> {
  const { db, keyring, maxBytes } = options;
  const key = exportKey(await keyring.siteKey(job.siteId), job.seed, job.id);
  const sink = new PackageSink({ db, job, key, maxBytes });
  const running = new AbortController();
  return withAnySignal([stopping, running.signal], (stopped) => storeUntil(stopped, running, options, job, key, sink));
}

/**
 * Exports until `stopped` is aborted.
 * @param stopped ends the run
 * @param running aborted by the progress report once another process may take the export over
 */
async function storeUntil(
  stopped: AbortSignal,
  running: AbortController,
  options: RunExportOptions,
  job: ClaimedExport,
  key: Uint8Array,
  sink: PackageSink,
): Promise<boolean> {
  const { db } = options;
  const stopSink = (): void => {
    sink.destroy(new ExportStopped(`export ${job.id} was stopped`));
  };
  stopped.addEventListener('abort', stopSink, { once: true });
  let progress: ExportProgress | null = null;
  const reporting = reportProgress(options, job, running, () => ({ progress, bytes: sink.bytes }));
  try {
    await removeChunks(db, job.id);
    const request: PackageRequest = {
      siteId: job.siteId,
      filter: {
        ...job.filter,
        ...(job.sealedVisitor !== null && { visitorId: openSecret(key, job.id, 'visitor', job.sealedVisitor) }),
      },
      disclose: job.disclose,
      exportedBy: exportedBy({ channel: job.channel, userId: job.requestedBy }, job.id),
      ...(job.stated !== null && { stated: job.stated }),
      onProgress: (now) => {
        stopped.throwIfAborted();
        progress = now;
      },
    };
    const result = await streamEvidence(options, request, sink, () => assertClaimed(db, job));
    const { filterDisclosures } = result;
    const sealed =
      filterDisclosures.length === 0
        ? null
        : sealSecret(key, job.id, 'filter-disclosures', JSON.stringify(filterDisclosures));
    return await finishExport(db, job, sink.stored, result, sealed, options.retentionMs);
  } catch (error) {
    // The error is a consequence of the stop, so the stop is reported, with the error as its cause.
    if (running.signal.aborted) throw new ExportStopped(`export ${job.id} was stopped`, { cause: error });
    throw error;
  } finally {
    stopped.removeEventListener('abort', stopSink);
    running.abort();
    await reporting;
  }
}

interface Reported {
  readonly progress: ExportProgress | null;
  readonly bytes: number;
}

/**
 * Writes the progress every `progressMs`, and aborts `running` once the run must stop. Ends when
 * `running` is aborted.
 */
async function reportProgress(
  { db, logger, progressMs = 1_000 }: RunExportOptions,
  job: ClaimedExport,
  running: AbortController,
  now: () => Reported,
): Promise<void> {
  while (!running.signal.aborted) {
    try {
      const { progress, bytes } = now();
      if (!(await noteProgress(db, job, progress, bytes))) running.abort();
    } catch (error) {
      // If the database remains unavailable, the run itself fails. A worker that takes the export over is not affected.
      logger.warn(
        { part: 'exports', export: job.id, reason: describe(error) },
        'the progress of an evidence export could not be stored',
      );
    }
    await pause(progressMs, running.signal);
  }
}

/** The reason with which the export fails. @returns null if another run may succeed */
function reasonOf(error: unknown, attempts: number): ExportReason | null {
  if (error instanceof PackageTooLarge) return 'too-large';
  if (error instanceof ExportFailed) {
    switch (error.problem) {
      case 'log-and-ledger-differ':
      case 'proof-hash-differs':
      case 'too-large':
      case 'manifest-key-not-certified':
        return error.problem;
      default:
        break;
    }
  }
  return attempts >= MAX_ATTEMPTS ? 'error' : null;
}

/** Number of bytes of plaintext in a chunk; the last chunk may be shorter. */
export const CHUNK_BYTES = 1_048_576;

export interface PackageSinkOptions {
  /** A handle in the role `consent_ledger_worker`. */
  readonly db: Queryable;
  readonly job: Pick<ClaimedExport, 'id' | 'claim'>;
  /** Key of the export. */
  readonly key: Uint8Array;
  readonly maxBytes: number;
}

/** The package is larger than the configuration allows. */
class PackageTooLarge extends Error {
  override readonly name = 'PackageTooLarge';
}

/**
 * Writable stream that stores a package in encrypted chunks. Back-pressure keeps one chunk in
 * memory at a time. Each chunk is a separate statement, and only the run that holds the claim can
 * store it.
 */
class PackageSink extends Writable {
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

  /** Number of bytes written so far. */
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
      // A full chunk is held until more input arrives, because only then is it known not to be the last.
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
