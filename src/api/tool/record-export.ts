import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import {
  CSV_MEDIA_TYPE,
  DEFAULT_EXPORT_PAGE,
  EXPORTED_FIELDS,
  ExportedConsent,
  type ExportFormat,
  ExportQuery,
  ExportResponse,
  MAX_EXPORT_PAGE,
  MAX_PARQUET_ROWS,
  NDJSON_MEDIA_TYPE,
  PARQUET_MEDIA_TYPE,
  PERSONAL_FIELDS,
} from '../../../schemas/api/export.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { exportRecords, type RecordOptions } from '../../evidence/records/read-records.js';
import {
  cursorBehind,
  lastShownRevision,
  revisionOfCursor,
  type StreamRange,
  selectErasures,
  selectRecords,
} from '../../evidence/records/selection.js';
import { exportedErasure } from '../../evidence/records/test-records.js';
import { appendAuditEntry } from '../../platform/audit-log.js';
import type { Queryable } from '../../platform/database/pool.js';
import { serviceUnavailable } from '../../platform/errors.js';
import { VERSION } from '../../platform/version.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import type { FairScheduler } from '../guards/fair-scheduler.js';
import { type ToolCaller, userOf } from '../server/caller.js';
import { EXAMPLE_VALUES, SHOWN } from '../server/example-values.js';
import { goneClient } from '../server/gone-client.js';
import { BACKEND } from '../server/operation.js';
import { routesWith, type ToolCall } from '../server/route.js';
import {
  csvLine,
  ERASED_AT,
  excelDialect,
  inOrder,
  type Line,
  lineOf,
  lineOfErasure,
  RFC_4180,
} from './export-lines.js';
import { exportedTestRecords } from './export-test-records.js';
import { type ParquetType, parquetFile, parquetType } from './parquet.js';
import { testMarkOf } from './serve-tool.js';

export interface RecordExportDeps extends RecordOptions {
  /** Schedules the work by tenant. An export that has begun is never refused a turn. */
  readonly turns: FairScheduler;
  /** Called with a failure after the response has begun. The client then only sees that the connection ends early. */
  readonly onExportError: (error: unknown, request: FastifyRequest) => void;
}

/** Milliseconds without progress after which the connection to a client that does not read is closed. */
const IDLE_MS = 60_000;
const CHUNK_CHARACTERS = 65_536;
/** Maximum number of records that are read and decrypted in one turn. */
const RECORDS_IN_A_TURN = 20;

const CONTENT_TYPES: Readonly<Record<ExportFormat, string>> = {
  json: 'application/json; charset=utf-8',
  ndjson: NDJSON_MEDIA_TYPE,
  csv: `${CSV_MEDIA_TYPE}; charset=utf-8; header=present`,
  parquet: PARQUET_MEDIA_TYPE,
};

const route = routesWith<RecordExportDeps>();

const SHOWN_EXPORT: JsonObject = {
  data: [
    {
      id: SHOWN.consentId,
      consent_token: EXAMPLE_VALUES.consentToken,
      proof_hash: SHOWN.proofHash,
      hash_version: 2,
      proof_key_id: SHOWN.proofKeyId,
      site_id: SHOWN.siteId,
      consent_type: 'cookie',
      decision: 'partial',
      categories: { necessary: true, analytics: false },
      services: null,
      language: 'en',
      document_version_id: EXAMPLE_VALUES.versionId,
      document_hash: SHOWN.sha256,
      site_config_hash: SHOWN.sha256,
      compliance_framework: 'gdpr',
      created_at: SHOWN.createdAt,
      valid_until: SHOWN.validUntil,
      ask_again_at: null,
      rule_id: null,
      scope: 'device',
      channel: 's2s',
      api_key_id: SHOWN.documentId,
      identity_assurance: null,
      approval_token_id: null,
      vouched: [],
      import: null,
      document_slug: 'cookie-policy',
      is_anonymized: false,
      ...Object.fromEntries(PERSONAL_FIELDS.map((name) => [name, null])),
      visitor_id: EXAMPLE_VALUES.visitorId,
      attachments: [],
      cursor: 'djE6NDE',
    },
  ],
  next_cursor: null,
};

/** Serves the consent records of a site, as pages of JSON, as NDJSON, as CSV or as a Parquet file. */
export const EXPORT_OPERATIONS = [
  route({
    auth: 'tool',
    id: 'exportConsents',
    path: '/tool/v1/s2s/consents/export',
    tag: 'Consents',
    summary: 'Export consent records with every field, or with chosen ones',
    description:
      'Records come in the order in which they were recorded. JSON comes in pages of at most 1,000 records; pass `next_cursor` as `cursor` until it is null. NDJSON (`format=ndjson`, or `Accept: application/x-ndjson`) has one record a line and no limit; after a response that ended early, continue with the `cursor` of its last complete line. CSV (`format=csv`, or `Accept: text/csv`) is the same with a header line; objects and lists in it are JSON, and a text that a spreadsheet would evaluate as a formula has an apostrophe in front; with `excel=tr-TR` it begins with a byte-order mark and has the separator that Excel expects with that language. Parquet (`format=parquet`, or `Accept: application/vnd.apache.parquet`) has the same columns, with times, flags and numbers in their types, and at most `limit` rows, which it requires, or fewer if they are large: continue with the `cursor` of the last row until a file has no rows; a file whose response ended early cannot be read. An attachment is in the field in which it was sent, as text or base64 (see `attachments`). An erased record keeps its public part, and its `is_anonymized` is true.',
    roles: BACKEND,
    query: ExportQuery,
    response: ExportResponse,
    alternatives: [
      {
        mediaType: NDJSON_MEDIA_TYPE,
        description: 'One ExportedConsent, ExportedFields or ExportedErasure as JSON on each line.',
      },
      { mediaType: CSV_MEDIA_TYPE, description: 'A line of names, then one record a line.' },
      { mediaType: PARQUET_MEDIA_TYPE, description: 'A Parquet file with a column for each field.' },
    ],
    example: {
      query: { visitor_id: EXAMPLE_VALUES.visitorId, from: '2026-01-01T00:00:00Z', limit: '500' },
      response: SHOWN_EXPORT,
    },
    action: 'consent.export',
    handle: (call, deps) => exported(records, call, deps),
    handleTest: (call, deps) => exported(exportedTestRecords, call, deps),
  }),
];

async function exported(
  read: typeof records,
  { caller, query, request, reply, closing }: ToolCall<unknown, ExportQuery>,
  deps: RecordExportDeps,
): Promise<FastifyReply> {
  const format = query.format ?? formatAccepted(request);
  checkLimit(query, format);
  checkExcel(query, format);
  const gone = goneClient(reply);
  const lines = read(deps, caller.site, query, gone);
  const chunks = chunksOf(lines, query, format, closing, testMarkOf(caller.apiKey));
  // Up to this point, a failure still gets its own status.
  const first = await chunks.next();
  await noteExport(deps.db, caller, query).catch(async (cause: unknown) => {
    await chunks.return();
    throw serviceUnavailable({ cause });
  });
  reply.raw.setTimeout(IDLE_MS);
  if (format !== 'json') cutOnClosing(reply.raw, closing);
  const rest = follow(first, chunks, (error) => {
    if (!gone.aborted) deps.onExportError(error, request);
  });
  return reply.header('content-type', CONTENT_TYPES[format]).send(Readable.from(rest, { highWaterMark: 1 }));
}

/**
 * Ends a response when the service stops. A slow client must not delay that; it can resume from the cursor of its last
 * line.
 */
export function cutOnClosing(response: ServerResponse, closing: AbortSignal): void {
  // The client disconnected while the first records were read, so no further event will remove the listener.
  if (response.destroyed) return;
  const cut = (): void => {
    response.destroy();
  };
  closing.addEventListener('abort', cut, { once: true });
  response.once('close', () => closing.removeEventListener('abort', cut));
}

function formatAccepted({ headers: { accept = '' } }: FastifyRequest): ExportFormat {
  const ranges = accept.split(',').map((range) => range.split(';')[0]?.trim().toLowerCase());
  if (ranges.includes(NDJSON_MEDIA_TYPE)) return 'ndjson';
  if (ranges.includes(PARQUET_MEDIA_TYPE)) return 'parquet';
  return ranges.includes(CSV_MEDIA_TYPE) ? 'csv' : 'json';
}

function checkLimit({ limit }: ExportQuery, format: ExportFormat): void {
  if (format === 'parquet' && (limit === undefined || limit > MAX_PARQUET_ROWS)) {
    // Without this, a file that ends at the limit would look like the complete export.
    const message = `must be given for Parquet, at most ${MAX_PARQUET_ROWS}; continue with the cursor of the last row`;
    throw new ApiError('VALIDATION_ERROR', undefined, { errors: [{ field: 'limit', message }] });
  }
  if (format !== 'json' || limit === undefined || limit <= MAX_EXPORT_PAGE) return;
  const message = `must be at most ${MAX_EXPORT_PAGE}; larger exports need format=ndjson, csv or parquet`;
  throw new ApiError('VALIDATION_ERROR', undefined, { errors: [{ field: 'limit', message }] });
}

function checkExcel({ excel }: ExportQuery, format: ExportFormat): void {
  if (excel === undefined || format === 'csv') return;
  const message = 'needs format=csv';
  throw new ApiError('VALIDATION_ERROR', undefined, { errors: [{ field: 'excel', message }] });
}

type Chunk = string | Uint8Array;

async function* records(
  options: RecordExportDeps,
  site: SiteContext,
  query: ExportQuery,
  gone: AbortSignal,
): AsyncGenerator<Line, void> {
  const after = query.cursor === undefined ? -1 : revisionOfCursor(query.cursor);
  const range: StreamRange = { after, upTo: await lastShownRevision(options.db, site.siteId) };
  const consents = consentLines(options, site, query, range, gone);
  if (query.include_erasures === true) yield* inOrder(consents, erasureLines(options.db, site.siteId, range));
  else yield* consents;
}

async function* consentLines(
  options: RecordExportDeps,
  site: SiteContext,
  query: ExportQuery,
  range: StreamRange,
  gone: AbortSignal,
): AsyncGenerator<Line, void> {
  const { turns } = options;
  const pages = selectRecords(options.db, options.keyring, site, query, range, gone);
  for await (const page of turns.pages(site.tenantId, pages, gone)) {
    for (let first = 0; first < page.length; first += RECORDS_IN_A_TURN) {
      const part = page.slice(first, first + RECORDS_IN_A_TURN);
      const lines = await turns.take(site.tenantId, () => exportRecords(options, site, part), gone);
      for (const { content, revision } of lines) yield lineOf(content, revision, query);
    }
  }
}

async function* erasureLines(db: Queryable, siteId: string, range: StreamRange): AsyncGenerator<Line, void> {
  for await (const page of selectErasures(db, siteId, range))
    for (const erasure of page) yield lineOfErasure(exportedErasure(erasure), erasure.revision);
}

async function* jsonPage(lines: AsyncIterable<Line>, limit: number, mark: JsonObject): AsyncGenerator<string, void> {
  yield '{"data":[';
  let count = 0;
  let last = -1;
  let next: string | null = null;
  for await (const { content, revision } of lines) {
    if (count === limit) {
      next = cursorBehind(last);
      break;
    }
    const text = JSON.stringify(content);
    yield count === 0 ? text : `,${text}`;
    count += 1;
    last = revision;
  }
  yield `],${JSON.stringify({ next_cursor: next, ...mark }).slice(1)}`;
}

/** The body of the response in pieces. */
function chunksOf(
  lines: AsyncIterable<Line>,
  query: ExportQuery,
  format: ExportFormat,
  closing: AbortSignal,
  mark: JsonObject,
): AsyncGenerator<Chunk, void> {
  if (format === 'json') return chunked(jsonPage(lines, query.limit ?? DEFAULT_EXPORT_PAGE, mark));
  const wanted = limited(lines, query.limit ?? Number.POSITIVE_INFINITY, closing);
  if (format !== 'parquet') return chunked(format === 'csv' ? csvRows(wanted, query) : jsonRows(wanted));
  const columns = columnsOf(query).map((name) => ({ name, type: COLUMN_TYPES[name] ?? 'text' }));
  return parquetFile(columns, cellsOf(wanted), `Consent Ledger version ${VERSION}`);
}

async function* limited(lines: AsyncIterable<Line>, limit: number, closing: AbortSignal): AsyncGenerator<Line, void> {
  let count = 0;
  for await (const line of lines) {
    // An export can take an hour, and a shutdown must not wait that long. The client resumes from the cursor of the
    // last line.
    if (closing.aborted) throw new Error('the service stopped during an export');
    yield line;
    count += 1;
    if (count >= limit) return;
  }
}

async function* jsonRows(lines: AsyncIterable<Line>): AsyncGenerator<string, void> {
  for await (const { content } of lines) yield `${JSON.stringify(content)}\n`;
}

async function* csvRows(lines: AsyncIterable<Line>, query: ExportQuery): AsyncGenerator<string, void> {
  const columns = columnsOf(query);
  const dialect = query.excel === undefined ? RFC_4180 : excelDialect(query.excel);
  yield dialect.mark + csvLine(columns, dialect);
  for await (const { cells } of lines) {
    const values = columns.map((name) => cells[name]);
    yield csvLine(values, dialect);
  }
}

async function* cellsOf(lines: AsyncIterable<Line>): AsyncGenerator<JsonObject, void> {
  for await (const { cells } of lines) yield cells;
}

const COLUMN_TYPES: Readonly<Record<string, ParquetType>> = {
  ...Object.fromEntries(Object.entries(ExportedConsent.shape).map(([name, field]) => [name, parquetType(field)])),
  [ERASED_AT]: 'time',
};

/** Columns of CSV and Parquet. An erasure has a row with the time in `erased_at`, which no record has. */
function columnsOf({ fields, include_erasures: withErasures }: ExportQuery): readonly string[] {
  const others = withErasures === true ? ['id', ERASED_AT, 'cursor'] : ['cursor'];
  return [...new Set([...(fields ?? EXPORTED_FIELDS), ...others])];
}

/**
 * Joins texts into larger chunks, because one write for each record of a few hundred bytes would be
 * slow.
 */
async function* chunked(texts: AsyncIterable<string>): AsyncGenerator<string, void> {
  let chunk = '';
  for await (const text of texts) {
    chunk += text;
    if (chunk.length >= CHUNK_CHARACTERS) {
      yield chunk;
      chunk = '';
    }
  }
  if (chunk !== '') yield chunk;
}

async function* follow(
  first: IteratorResult<Chunk, void>,
  rest: AsyncGenerator<Chunk, void>,
  onError: (error: unknown) => void,
): AsyncGenerator<Chunk, void> {
  try {
    if (first.done !== true) {
      yield first.value;
      yield* rest;
    }
  } catch (error) {
    onError(error);
    throw error;
  } finally {
    await rest.return();
  }
}

/** Members of the query that are not filters. */
const NOT_FILTERS: ReadonlySet<string> = new Set(['limit', 'cursor', 'format', 'fields', 'excel']);

/**
 * Writes an audit entry before personal data of a site is sent, one per page or stream. It names the user and the
 * fields of the filter, but never the people.
 */
async function noteExport(db: Queryable, caller: ToolCaller, query: ExportQuery): Promise<void> {
  const { site, apiKey } = caller;
  await appendAuditEntry(db, {
    tenantId: site.tenantId,
    actor: { kind: 'user', userId: userOf(caller).id },
    action: 'consent.export',
    subject: { kind: 'site', id: site.siteId },
    details: {
      filter: Object.keys(query).filter((name) => !NOT_FILTERS.has(name)),
      disclosed: true,
      ...(query.fields !== undefined && { fields: query.fields }),
      api_key_id: apiKey.id,
    },
  });
}
