import type { Writable } from 'node:stream';
import * as z from 'zod';
import { toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import type { SealedConsent } from '../../../schemas/events/consent-imported.js';
import { consentsStream, noticesStream, POLICY_STREAM } from '../../../schemas/events/streams.js';
import {
  type ExportStatement,
  type Manifest,
  PACKAGE_FORMAT,
  PACKAGE_VERSION,
} from '../../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { personTag } from '../../../schemas/evidence/person-tag.js';
import { RECEIPT_FORMAT } from '../../../schemas/evidence/receipt.js';
import { coverOf, rollUpsOver } from '../../../schemas/evidence/roll-ups.js';
import { UnknownSite } from '../../erasure/journal.js';
import type { EventLog } from '../../pipeline/event-log/port.js';
import { readSaltKey, siteSalt, streamKeysUnder } from '../../pipeline/ledger/stream-keys.js';
import type { Queryable } from '../../platform/database/pool.js';
import { blindIndex, type Keyring, type SigningKey } from '../../platform/keys/index.js';
import { NO_TRACING, type Tracing } from '../../platform/telemetry/tracing.js';
import { addAttachments, addNotices } from './attachments-files.js';
import { BatchesFile, type EnclosedBatch } from './batches-file.js';
import { addCheckpoints, type EnclosedCheckpoint, renewalBatches } from './checkpoints-files.js';
import { EntriesFile } from './entries-file.js';
import { ExportRow } from './export-row.js';
import {
  type Disclose,
  type ExportFilter,
  manifestFilter,
  parseDisclose,
  parseFilter,
  publicFilter,
} from './filter.js';
import { type ExportCheckpoint, isDevelopmentLedger, newestCheckpoint, readBatchLeaves } from './ledger-reader.js';
import { findManifestCertificate, manifestBytes, manifestSignature } from './manifest-files.js';
import { encodedPages, type FileSink, ndjson, type PackageOutput, PackageWriter } from './package-writer.js';
import { openPersonTag, type PersonScope } from './person-scope.js';
import { addProofs } from './proofs-files.js';
import { packageReadme, workedExample } from './readme.js';
import type { ReleasedVerifier } from './readme-facts.js';
import { findScope, refuseTooManyTags, type Scope } from './scope.js';
import { countNotYetStamped } from './stamping-state.js';
import { type AbsentTag, AbsentTags, mostTagBytes, TagsFiles } from './tags-files.js';

export interface ExportOptions {
  /** A handle in the role `consent_ledger_worker` or `consent_ledger_api`. */
  readonly db: Queryable;
  readonly eventLog: EventLog;
  readonly keyring: Pick<Keyring, 'siteKey' | 'manifestKey' | 'proofKeyById' | 'openKeyRows' | 'openKeyColumns'>;
  /** Origin of the ledger. */
  readonly origin: string;
  /** The verifier that the package names, or undefined if it names none. */
  readonly verifier?: ReleasedVerifier;
  readonly now?: () => Date;
  readonly tracing?: Tracing;
  /** Called between two steps of the work. */
  readonly yieldToAdmission?: () => Promise<void>;
}

/** The content that a package must have. */
export interface PackageRequest {
  readonly siteId: string;
  readonly filter: ExportFilter;
  readonly disclose: Disclose;
  /** Name of the exporting account or command in the package. */
  readonly exportedBy: string;
  /** What the package states of its making; the default is nothing. */
  readonly stated?: ExportStatement;
  readonly onProgress?: (progress: ExportProgress) => void;
}

export interface ExportRequest extends PackageRequest {
  /** Path of the package. */
  readonly output: string;
  /** True replaces an existing file. Otherwise, an existing file is an error. */
  readonly overwrites?: boolean;
}

export interface ExportProgress {
  readonly step: 'entries' | 'batches' | 'proofs' | 'checkpoints' | 'attachments' | 'finishing';
  /** Entries, batches or files of this step that are done. */
  readonly done: number;
  /** Number of entries, batches or files of this step, or null if it is not known. */
  readonly total: number | null;
}

/** The content of a finished package. */
export interface PackageResult {
  readonly counts: Manifest['counts'];
  /** Size of the checkpoint that the package shows, or null if nothing is stamped yet. */
  readonly checkpoint: number | null;
  /**
   * Disclosure strings of a filter by person. They are not in the package, and the manifest reveals
   * the person only with them.
   */
  readonly filterDisclosures: readonly string[];
  readonly bytes: number;
}

export interface ExportResult extends PackageResult {
  readonly path: string;
}

/**
 * Writes an evidence package (docs/evidence-format.md) as of the newest stamped checkpoint. The
 * package is a ZIP that is written as a stream. All content is checked against the sealed data
 * before it is written. A failed export leaves no file.
 * @throws ExportFailed; UnknownSite; KeyError, EventLogUnavailable, errors of the database and the
 *   disk
 */
export async function exportEvidence(options: ExportOptions, request: ExportRequest): Promise<ExportResult> {
  const { output: path, overwrites = false, ...rest } = request;
  const { db } = options;
  const start = (): Promise<ExportRow> => ExportRow.start(db, request.siteId, request.exportedBy);
  return { path, ...(await exportPackage(options, rest, { path, overwrites }, start)) };
}

/**
 * Writes an evidence package to a stream, as `exportEvidence` does. Success ends the stream, and
 * failure destroys it. The output is valid only after this function has returned.
 * @param assertRunning throws if an erasure has stopped the export. The caller has registered it
 * @throws as `exportEvidence`; the errors of `assertRunning`; the error with which the stream was
 *   destroyed
 */
export function streamEvidence(
  options: ExportOptions,
  request: PackageRequest,
  destination: Writable,
  assertRunning: () => Promise<void>,
): Promise<PackageResult> {
  // The caller records how the export ends, because it keeps the package.
  const run: ExportRun = { assertRunning, finish: assertRunning, fail: async () => undefined };
  return exportPackage(options, request, destination, async () => run);
}

/** A registered export. */
type ExportRun = Pick<ExportRow, 'assertRunning' | 'finish' | 'fail'>;

async function exportPackage(
  options: ExportOptions,
  given: PackageRequest,
  output: PackageOutput,
  start: () => Promise<ExportRun>,
): Promise<PackageResult> {
  const { db, tracing = NO_TRACING, now = () => new Date() } = options;
  return await tracing.span('export evidence', {}, async (span) => {
    const request = { ...given, filter: parseFilter(given.filter), disclose: parseDisclose(given.disclose) };
    const { rowCount } = await db.query('select from sites where id = $1', [request.siteId]);
    if (rowCount !== 1) throw new UnknownSite(request.siteId);
    const time = now();
    const writer = await PackageWriter.open(output, time);
    let run: ExportRun | null = null;
    try {
      const started = await start();
      run = started;
      const content = await wholeContent(options, request);
      const result = await writePackage(options, request, content, writer, () => started.assertRunning(), time);
      await writer.end();
      await run.finish();
      await writer.publish();
      span.add({ 'consent_ledger.bytes': writer.size });
      return { ...result, bytes: writer.size };
    } catch (error) {
      await writer.discard();
      // The error of the export must not be hidden by an error of this update.
      await run?.fail().catch(() => undefined);
      throw error;
    }
  });
}

/** The content of a package, as of a checkpoint. */
export interface PackageContent {
  readonly format: Manifest['format'];
  /** Null if nothing is stamped yet. */
  readonly checkpoint: ExportCheckpoint | null;
  readonly scope: Scope;
  /** Blind index of the person that the filter names. */
  readonly visitorIndex: Uint8Array | null;
}

async function wholeContent(
  { db, eventLog, keyring }: ExportOptions,
  { siteId, filter }: PackageRequest,
): Promise<PackageContent> {
  const checkpoint = await newestCheckpoint(db);
  const siteKey = await keyring.siteKey(siteId);
  const visitorIndex = filter.visitorId === undefined ? null : blindIndex(siteKey, 'visitor', filter.visitorId);
  const visitor = visitorIndex === null ? null : { index: visitorIndex, siteKey };
  const scope = await findScope(db, eventLog, keyring, siteId, filter, visitor, checkpoint?.size ?? 0);
  return { format: PACKAGE_FORMAT, checkpoint, scope, visitorIndex };
}

/**
 * Writes the files of a package or a receipt.
 * @param assertRunning throws if an erasure has stopped the export
 * @param now time for `exported_at`
 * @throws as `exportEvidence`
 */
export async function writePackage(
  options: ExportOptions,
  request: PackageRequest,
  content: PackageContent,
  writer: FileSink,
  assertRunning: () => Promise<void>,
  now: Date,
): Promise<Omit<PackageResult, 'bytes'>> {
  return await new WrittenPackage(options, request, content, writer, assertRunning).write(now);
}

class WrittenPackage {
  /** Size of the checkpoint, or 0 if there is none. */
  readonly #size: number;
  readonly #isReceipt: boolean;
  readonly #fits: (record: SealedConsent) => boolean;

  constructor(
    readonly options: ExportOptions,
    readonly request: PackageRequest,
    readonly content: PackageContent,
    readonly writer: FileSink,
    readonly assertRunning: () => Promise<void>,
  ) {
    this.#size = content.checkpoint?.size ?? 0;
    this.#isReceipt = content.format === RECEIPT_FORMAT;
    this.#fits = publicFilter(request.filter);
  }

  async write(now: Date): Promise<Omit<PackageResult, 'bytes'>> {
    const { db, eventLog, keyring, origin, verifier = null } = this.options;
    const { siteId, filter, disclose, exportedBy, stated: made } = this.request;
    const { format, checkpoint, scope, visitorIndex } = this.content;
    const manifestKey = await keyring.manifestKey();
    const certificate = await findManifestCertificate(db, manifestKey.publicKeyBytes, checkpoint?.size ?? null);
    const entries = await this.#entriesFile();
    await refuseTooManyTags(db, scope.consents, this.#size);
    const entryBytes = await this.writer.add(PACKAGE_FILES.entries, encodedPages(entries.pages()));
    const saltKey = await readSaltKey(db);
    const { lines, newest } = await this.#addLedger(entries, entryBytes, saltKey);
    // The entry of a configuration holds the same text, so a receipt does not repeat it.
    const configurations = this.#isReceipt ? new Map<string, string>() : entries.configurations;
    await addNotices(this.writer, db, entries.contents, configurations);
    this.#report('attachments', 0, entries.attachments.length);
    const source = { db, keyring, siteId, assertRunning: this.#beforePiece };
    const attachments = await addAttachments(this.writer, source, entries.attachments);
    this.#report('finishing', 0, null);
    const stated = manifestFilter(siteId, filter, disclose, scope.person);
    const notYetStamped = {
      db,
      eventLog,
      keyring,
      siteId,
      fits: this.#fits,
      visitorIndex,
      after: scope.lastConsents,
      // Not slowed down, because it has to catch up with the end of a growing stream.
      beforePage: this.assertRunning,
    };
    const manifest: Omit<Manifest, 'files'> = {
      format,
      version: PACKAGE_VERSION,
      origin,
      checkpoint: checkpoint?.size ?? null,
      exported_at: now.toISOString(),
      exported_by: exportedBy,
      ...(made !== undefined && { export: made }),
      development: await isDevelopmentLedger(db),
      filter: stated.filter,
      salt: saltKey === null ? null : toHex(siteSalt(saltKey, siteId)),
      counts: {
        ...entries.counts,
        attachments,
        not_yet_stamped: this.#isReceipt ? 0 : await countNotYetStamped(notYetStamped),
      },
      complete: [...scope.complete],
    };
    if (!this.#isReceipt) {
      const example = entries.example && (await workedExample(db, entries.example, lines, this.#size));
      const { site } = entries;
      const readme = packageReadme({ manifest, checkpoint: newest, example, site, verifier });
      await this.writer.add(PACKAGE_FILES.readme, [utf8(readme)]);
    }
    await addManifest(this.writer, manifest, manifestKey, certificate);
    return { counts: manifest.counts, checkpoint: manifest.checkpoint, filterDisclosures: stated.disclosures };
  }

  async #entriesFile(): Promise<EntriesFile> {
    const { db, eventLog, keyring } = this.options;
    const { siteId, disclose } = this.request;
    const { scope } = this.content;
    const siteKey = await keyring.siteKey(siteId);
    const runs = [...scope.consents, ...scope.notices, ...(scope.policies === null ? [] : [scope.policies])];
    const total = runs.reduce((sum, { first, last }) => sum + last - first + 1, 0);
    return new EntriesFile({
      db,
      eventLog,
      keyring,
      siteId,
      scope,
      disclose,
      fits: this.#fits,
      size: this.#size,
      openTag: this.#isReceipt ? (entry) => openPersonTag(db, keyring, siteKey, entry) : null,
      beforePage: async (done) => {
        this.#report('entries', done, total);
        await this.#beforePiece();
      },
    });
  }

  /**
   * Adds batches, proofs and checkpoints.
   * @returns the numbers of the batches, sorted, and the newest checkpoint, or null if there is none
   */
  async #addLedger(
    entries: EntriesFile,
    entryBytes: number,
    saltKey: Uint8Array | null,
  ): Promise<{ readonly lines: readonly number[]; readonly newest: EnclosedCheckpoint | null }> {
    const { writer } = this;
    const { db } = this.options;
    const { siteId } = this.request;
    const { checkpoint, scope } = this.content;
    const size = this.#size;
    const isReceipt = this.#isReceipt;
    const numbers = sortedNumbers([...entries.leavesByBatch.keys()]);
    const cover = new Set(isReceipt ? [] : coverOf(size));
    const dated = [...(await firstBatch(db, numbers)), ...numbers];
    const holding = [...dated, ...numbers.flatMap((number) => rollUpsOver(number, size)), ...cover];
    // The header of the last leaf counts the policies.
    const last = size > 0 && !holding.includes(size - 1) ? size - 1 : null;
    const own = sortedNumbers(last === null ? holding : [...holding, last]);
    const lines = isReceipt ? own : sortedNumbers([...own, ...(await renewalBatches(db, size, own))]);
    if (checkpoint === null || saltKey === null) {
      await writer.add(PACKAGE_FILES.batches, []);
      return { lines, newest: null };
    }
    const streams = [consentsStream(siteId), noticesStream(siteId), POLICY_STREAM];
    const batches = new BatchesFile(db, streams, streamKeysUnder(saltKey), checkpoint, last);
    const absent = new AbsentTags(nextTagOf(scope.person), entries.notErased, cover);
    const tags = new TagsFiles(db, writer, absent, entries.leavesByBatch, mostTagBytes(entryBytes));
    this.#report('batches', 0, lines.length);
    await writer.add(PACKAGE_FILES.batches, ndjson(batches.lines(lines, this.#beforePiece)));
    for (const [done, batch] of [...batches.batches.values()].entries()) {
      this.#report('proofs', done, lines.length);
      await this.#beforePiece();
      if (batch.level === 0) await addBatchProofs(db, writer, tags, batch, entries.leavesByBatch.get(batch.number));
      else await tags.addRollUp(batch);
    }
    this.#report('checkpoints', 0, null);
    const needs = { size, batches: dated, policies: entries.policyBatches, after: batches.after, isReceipt };
    const enclosed = await addCheckpoints(writer, db, needs, this.#beforePiece);
    return { lines, newest: enclosed.at(-1) ?? null };
  }

  #report(step: ExportProgress['step'], done: number, total: number | null): void {
    this.request.onProgress?.({ step, done, total });
  }

  readonly #beforePiece = async (): Promise<void> => {
    await this.options.yieldToAdmission?.();
    await this.assertRunning();
  };
}

function sortedNumbers(numbers: readonly number[]): readonly number[] {
  return [...new Set(numbers)].sort((a, b) => a - b);
}

/** Returns the tag that the person's next record would have. Empty if the package makes no claim about it. */
function nextTagOf(person: PersonScope | null): readonly AbsentTag[] {
  if (person === null || person.id === null || person.records === null) return [];
  return [{ tag: personTag(person.id, person.records + 1), from: 0 }];
}

async function addBatchProofs(
  db: Queryable,
  writer: FileSink,
  tags: TagsFiles,
  batch: EnclosedBatch,
  indexes: readonly number[] = [],
): Promise<void> {
  const isSearched = tags.absent.concerns(batch.number);
  if (indexes.length === 0 && !isSearched) return;
  const leaves = await readBatchLeaves(db, batch.number);
  const hashes = leaves.map(({ hash }) => hash);
  if (indexes.length > 0) await addProofs(writer, batch, hashes, indexes);
  await tags.addBatch(batch, leaves);
}

/** The manifest is written last, because it lists every other file except attachments. */
async function addManifest(
  writer: FileSink,
  manifest: Omit<Manifest, 'files'>,
  key: SigningKey,
  certificate: string,
): Promise<void> {
  const files = Object.fromEntries(
    [...writer.digests]
      .filter(([name]) => !name.startsWith(PACKAGE_FILES.attachment('')))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  const bytes = manifestBytes({ ...manifest, files });
  await writer.add(PACKAGE_FILES.manifest, [bytes]);
  await writer.add(PACKAGE_FILES.manifestSignature, [manifestSignature(bytes, key, certificate)]);
}

/**
 * Selects batch 0 if a package includes a later batch that names no time stamp. Together with the
 * first time stamp over it, batch 0 proves that there was none to name.
 * @param own numbers of the batches with the package's entries, sorted
 * @returns number of the additional batch, or an empty list if none is needed
 */
async function firstBatch(db: Queryable, own: readonly number[]): Promise<readonly number[]> {
  if (own.length === 0 || own.includes(0)) return [];
  // Every batch after one that names a time stamp names one as well.
  const { rows } = await db.query(
    `select coalesce(header::jsonb -> 'after' = 'null', false) as unnamed from batches where number = $1`,
    [own[0]],
  );
  return z.array(z.object({ unnamed: z.boolean() })).parse(rows)[0]?.unnamed === true ? [0] : [];
}
