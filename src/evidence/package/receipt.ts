import * as z from 'zod';
import { sha256, sha256Hex } from '../../../schemas/crypto/digest.js';
import { concatBytes, decodeUtf8, toBase64, toHex } from '../../../schemas/crypto/encoding.js';
import type { SealedConsent } from '../../../schemas/events/consent-imported.js';
import { DOCUMENT_VERSION_PUBLISHED } from '../../../schemas/events/notices.js';
import { isConsentType, parseConsent, parseRecord } from '../../../schemas/events/sealed-event.js';
import { SITE_CONFIG_PUBLISHED } from '../../../schemas/events/site-config.js';
import { consentsStream, noticesStream, POLICY_STREAM } from '../../../schemas/events/streams.js';
import { isTextFile, RECEIPT_FORMAT, type Receipt } from '../../../schemas/evidence/receipt.js';
import type { Queryable } from '../../platform/database/pool.js';
import { readEntries, type SealedEntry } from './entry-reader.js';
import { differ, ExportFailed } from './errors.js';
import { type ExportOptions, writePackage } from './export-evidence.js';
import { ExportRow } from './export-row.js';
import type { Disclose } from './filter.js';
import { firstCheckpointOver, lastRevisionBelow, readLeaves } from './ledger-reader.js';
import type { Content, FileSink } from './package-writer.js';
import { runsOfRevisions, type Scope } from './scope.js';

/** Largest receipt before compression. Documents that people consent to are far smaller. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Name of the exporter in the manifest of every receipt. */
const EXPORTED_BY = 'receipt';

/** `unknown` if there is no such record, `not-stamped` if no time stamp covers the record yet. */
export type ReceiptResult =
  | { readonly kind: 'receipt'; readonly receipt: Receipt }
  | { readonly kind: 'unknown' | 'not-stamped' };

/**
 * Makes the receipt of a record (docs/evidence-format.md §16): the package of this record alone as of the first
 * checkpoint whose time stamp covers it. The receipt stays the same, except for later cosignatures and for an erasure
 * of the values that it discloses.
 * @param disclose values to disclose; `none` for the holder of the consent token
 * @param onlySite site that the record must belong to; null permits any
 * @throws ExportFailed; KeyError, EventLogUnavailable, database errors
 */
export async function makeReceipt(
  options: ExportOptions,
  eventId: string,
  disclose: Disclose,
  onlySite: string | null = null,
): Promise<ReceiptResult> {
  const { db } = options;
  const place = await findPlace(db, eventId);
  if (place === null || (onlySite !== null && place.siteId !== onlySite)) return { kind: 'unknown' };
  const { siteId, revision } = place;
  const stream = consentsStream(siteId);
  const [leaf] = await readLeaves(db, stream, revision, revision);
  const checkpoint = leaf === undefined ? null : await firstCheckpointOver(db, leaf.batch);
  if (checkpoint === null) return { kind: 'not-stamped' };
  const { size } = checkpoint;
  const [entry] = await entriesOf(options, stream, revision, revision);
  if (entry === undefined || !isConsentType(entry.event.type))
    differ(`the record ${eventId} is sealed, but not in the log`);
  const record = parseConsent(entry.event.type, entry.recordText);
  const lastPolicy = await lastRevisionBelow(db, POLICY_STREAM, size);
  const scope: Scope = {
    consents: [{ stream, first: revision, last: revision }],
    leavesOut: true,
    lastConsents: revision,
    notices: await noticesOf(options, siteId, record, size),
    policies: lastPolicy < 0 ? null : { stream: POLICY_STREAM, first: 0, last: lastPolicy },
    showsAbsence: false,
    complete: [],
    person: null,
  };
  const sink = new MemorySink();
  const request = { siteId, filter: { eventIds: [eventId] }, disclose, exportedBy: EXPORTED_BY };
  const content = { format: RECEIPT_FORMAT, checkpoint, scope, visitorIndex: null } as const;
  const time = await stampedAt(db, size);
  // Registered, so that an erasure can stop it before it discloses values of the site.
  const row = disclose === 'none' ? null : await ExportRow.start(db, siteId, EXPORTED_BY);
  try {
    await writePackage(options, request, content, sink, async () => row?.assertRunning(), time);
    await row?.finish();
  } catch (error) {
    await row?.fail().catch(() => undefined);
    throw error;
  }
  return { kind: 'receipt', receipt: { format: RECEIPT_FORMAT, version: 1, files: sink.files() } };
}

async function findPlace(db: Queryable, eventId: string): Promise<{ siteId: string; revision: number } | null> {
  const { rows } = await db.query('select site_id, revision from read_model.consents where event_id = $1', [eventId]);
  const [row] = z.array(z.object({ site_id: z.string(), revision: z.int() })).parse(rows);
  return row === undefined ? null : { siteId: row.site_id, revision: row.revision };
}

/** Returns the time of the newest time stamp over a checkpoint, because `exported_at` must not be earlier. */
async function stampedAt(db: Queryable, size: number): Promise<Date> {
  const { rows } = await db.query('select max(gen_time) as time from checkpoint_tokens where size = $1', [size]);
  return z.tuple([z.object({ time: z.date() })]).parse(rows)[0].time;
}

async function entriesOf(
  { db, eventLog }: ExportOptions,
  stream: string,
  first: number,
  last: number,
): Promise<readonly SealedEntry[]> {
  const entries: SealedEntry[] = [];
  for await (const page of readEntries(db, eventLog, { stream, first, last })) entries.push(...page);
  return entries;
}

const VersionEvent = z.looseObject({ document_version_id: z.string() });

/** Returns the notices of the text and of the configuration that the record names. */
async function noticesOf(
  { db, eventLog }: ExportOptions,
  siteId: string,
  record: SealedConsent,
  size: number,
): Promise<Scope['notices']> {
  const stream = noticesStream(siteId);
  const last = await lastRevisionBelow(db, stream, size);
  const revisions = new Set<number>();
  if (last < 0) return [];
  for await (const page of readEntries(db, eventLog, { stream, first: 0, last })) {
    for (const { event, recordText } of page)
      if (isNamed(event.type, recordText, record)) revisions.add(event.revision);
  }
  return runsOfRevisions(stream, revisions);
}

function isNamed(type: string, recordText: string, record: SealedConsent): boolean {
  if (type === SITE_CONFIG_PUBLISHED) return sha256Hex(recordText) === record.site_config_hash;
  if (type === DOCUMENT_VERSION_PUBLISHED)
    return parseRecord(DOCUMENT_VERSION_PUBLISHED, recordText).document_version_id === record.document_version_id;
  const version = VersionEvent.safeParse(JSON.parse(recordText));
  return version.success && version.data.document_version_id === record.document_version_id;
}

/** Keeps the files of a receipt in memory. */
class MemorySink implements FileSink {
  readonly digests = new Map<string, string>();
  readonly #contents = new Map<string, Uint8Array>();
  #bytes = 0;

  /** @throws ExportFailed `too-large` */
  async add(name: string, content: Content): Promise<number> {
    const pieces: Uint8Array[] = [];
    for await (const piece of content) {
      this.#bytes += piece.length;
      if (this.#bytes > MAX_BYTES)
        throw new ExportFailed('too-large', 'The receipt would be too large. Export a package of the record.');
      pieces.push(piece);
    }
    const bytes = concatBytes(...pieces);
    this.digests.set(name, toHex(sha256(bytes)));
    this.#contents.set(name, bytes);
    return bytes.length;
  }

  files(): Receipt['files'] {
    return Object.fromEntries(
      [...this.#contents].map(([name, bytes]) => [
        name,
        isTextFile(name) ? (decodeUtf8(bytes) ?? '') : toBase64(bytes),
      ]),
    );
  }
}
