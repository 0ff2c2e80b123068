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
  type ExportQuery,
  MAX_EXPORT_PAGE,
  MAX_PARQUET_ROWS,
  NDJSON_MEDIA_TYPE,
  PARQUET_MEDIA_TYPE,
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
import type { Queryable } from '../../platform/database/pool.js';
import { serviceUnavailable } from '../../platform/errors.js';
import { VERSION } from '../../platform/version.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import type { FairTurns } from '../guards/fair-turns.js';
import { goneClient } from '../server/gone-client.js';
import { csvLine, excelDialect, RFC_4180 } from './csv.js';
import { noteExport } from './export-audit.js';
import { ERASED_AT, inOrder, type Line, lineOf, lineOfErasure } from './export-lines.js';
import { exportedTestRecords } from './export-test-records.js';
import { exportConsents } from './operations/recording.js';
import { type ParquetType, parquetFile, parquetType } from './parquet.js';
import { reads, type ToolCall, type ToolRoute, testMarkOf } from './route.js';

export interface RecordExportOptions extends RecordOptions {
  /** Turns of tenants. An export that has begun is never refused one. */
  readonly turns: FairTurns;
  /**
   * Called with a failure after the response has begun, when the client only sees a connection that
   * ends early.
   */
  readonly onError: (error: unknown, request: FastifyRequest) => void;
}

/**
 * Milliseconds without progress after which the connection to a client that reads nothing is cut.
 */
const IDLE_MS = 60_000;
const CHUNK_CHARACTERS = 65_536;
/** Records that are read and decrypted in one turn. */
const RECORDS_IN_A_TURN = 20;

const CONTENT_TYPES: Readonly<Record<ExportFormat, string>> = {
  json: 'application/json; charset=utf-8',
  ndjson: NDJSON_MEDIA_TYPE,
  csv: `${CSV_MEDIA_TYPE}; charset=utf-8; header=present`,
  parquet: PARQUET_MEDIA_TYPE,
};

/** Serves the consent records of a site, as pages of JSON, as NDJSON, as CSV or as a Parquet file. */
export function recordExportRoutes(options: RecordExportOptions): readonly ToolRoute[] {
  const answer =
    (read: typeof records) =>
    async ({ caller, query, request, reply, closing }: ToolCall<unknown, ExportQuery>): Promise<FastifyReply> => {
      const format = query.format ?? formatAccepted(request);
      checkLimit(query, format);
      checkExcel(query, format);
      const gone = goneClient(reply);
      const lines = read(options, caller.site, query, gone);
      const chunks = chunksOf(lines, query, format, closing, testMarkOf(caller.apiKey));
      // Until here a failure still has a status of its own.
      const first = await chunks.next();
      await noteExport(options.db, caller, query).catch(async (cause: unknown) => {
        await chunks.return();
        throw serviceUnavailable({ cause });
      });
      reply.raw.setTimeout(IDLE_MS);
      if (format !== 'json') cutOnClosing(reply.raw, closing);
      const rest = follow(first, chunks, (error) => {
        if (!gone.aborted) options.onError(error, request);
      });
      return reply.header('content-type', CONTENT_TYPES[format]).send(Readable.from(rest, { highWaterMark: 1 }));
    };
  return [reads(exportConsents, answer(records), answer(exportedTestRecords))];
}

/**
 * A slow client must not keep the service from stopping: it continues later from the cursor of its
 * last line.
 */
export function cutOnClosing(response: ServerResponse, closing: AbortSignal): void {
  // The client left while the first records were read: no further event removes the listener.
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
    // Without it, a file that ends at the limit would look like the whole export.
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
  options: RecordExportOptions,
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
  options: RecordExportOptions,
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
    // An export can take an hour, and the service does not delay its stop that long. The client
    // continues from the cursor of the last line.
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
