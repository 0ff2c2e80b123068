import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import {
  DEFAULT_EXPORT_PAGE,
  type ExportFormat,
  ExportQuery,
  MAX_EXPORT_PAGE,
  NDJSON_MEDIA_TYPE,
} from '../../../schemas/api/export.js';
import { cursorBehind, revisionOfCursor } from '../../evidence/records/cursor.js';
import { exportRecords, type RecordSources } from '../../evidence/records/read-records.js';
import { selectRecords } from '../../evidence/records/selection.js';
import { EventLogUnavailable } from '../../pipeline/event-log/errors.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import type { ToolGuards } from '../guards/tool-guard.js';
import { callerOf } from '../server/caller.js';
import { validate } from '../server/json-body.js';
import { noteExport } from './get-s2s-export-audit.js';

export interface ExportDeps extends RecordSources {
  /** Told of a failure after the answer has begun: the caller sees a connection that ends early. */
  readonly onError: (error: unknown, request: FastifyRequest) => void;
}

/** Time without a byte taken after which a caller is given up. */
const IDLE_MS = 60_000;
const RETRY_AFTER_SECONDS = 2;
const CHUNK_CHARACTERS = 65_536;

/** GET /tool/v1/s2s/consents/export: the site's consent records with every field, as pages of JSON or as NDJSON. */
export function getS2sExport(tool: FastifyInstance, guards: ToolGuards, deps: ExportDeps): void {
  const closing = new AbortController();
  tool.addHook('preClose', (done) => {
    closing.abort();
    done();
  });
  tool.get('/s2s/consents/export', { onRequest: guards.s2sRead, exposeHeadRoute: false }, async (request, reply) => {
    const query = validate(ExportQuery, request.query);
    const format = query.format ?? formatAccepted(request);
    checkLimit(query, format);
    const caller = callerOf(request);
    const { site } = caller;
    const lines = records(deps, site, query);
    const text =
      format === 'json' ? jsonPage(lines, query.limit ?? DEFAULT_EXPORT_PAGE) : ndjson(lines, query, closing.signal);
    const chunks = chunked(text);
    // A failure until here is still answered with a status of its own.
    const first = await chunks.next().catch(asApiError);
    await noteExport(deps.pool, caller, query).catch(async (cause: unknown) => {
      await chunks.return();
      throw unavailable(cause);
    });
    reply.raw.setTimeout(IDLE_MS);
    if (format === 'ndjson') cutOnClosing(reply.raw, closing.signal);
    const rest = follow(first, chunks, (error) => deps.onError(error, request));
    return reply
      .header('content-type', format === 'json' ? 'application/json; charset=utf-8' : NDJSON_MEDIA_TYPE)
      .send(Readable.from(rest, { highWaterMark: 1 }));
  });
}

/** A caller that takes its time, or nothing, must not keep the service from stopping: it goes on later from its last line's cursor. */
function cutOnClosing(response: ServerResponse, closing: AbortSignal): void {
  const cut = (): void => {
    response.destroy();
  };
  closing.addEventListener('abort', cut, { once: true });
  response.once('close', () => closing.removeEventListener('abort', cut));
}

function formatAccepted({ headers: { accept = '' } }: FastifyRequest): ExportFormat {
  return accept.split(',').some((range) => range.split(';')[0]?.trim().toLowerCase() === NDJSON_MEDIA_TYPE)
    ? 'ndjson'
    : 'json';
}

function checkLimit({ limit }: ExportQuery, format: ExportFormat): void {
  if (format === 'ndjson' || limit === undefined || limit <= MAX_EXPORT_PAGE) return;
  const message = `must be at most ${MAX_EXPORT_PAGE}, or the format ndjson`;
  throw new ApiError('VALIDATION_ERROR', undefined, { errors: [{ field: 'limit', message }] });
}

/** A record as JSON text, with its place. */
interface Line {
  readonly text: string;
  readonly revision: number;
}

async function* records(deps: ExportDeps, site: SiteContext, query: ExportQuery): AsyncGenerator<Line, void> {
  const after = query.cursor === undefined ? -1 : revisionOfCursor(query.cursor);
  for await (const page of selectRecords(deps.pool, site, query, after)) {
    let index = 0;
    for await (const record of exportRecords(deps, site, page)) {
      yield { text: JSON.stringify(record), revision: page[index]?.revision ?? -1 };
      index += 1;
    }
  }
}

async function* jsonPage(lines: AsyncIterable<Line>, limit: number): AsyncGenerator<string, void> {
  yield '{"data":[';
  let count = 0;
  let last = -1;
  let next: string | null = null;
  for await (const { text, revision } of lines) {
    if (count === limit) {
      next = cursorBehind(last);
      break;
    }
    yield count === 0 ? text : `,${text}`;
    count += 1;
    last = revision;
  }
  yield `],"next_cursor":${JSON.stringify(next)}}`;
}

async function* ndjson(
  lines: AsyncIterable<Line>,
  { limit = Number.POSITIVE_INFINITY }: ExportQuery,
  closing: AbortSignal,
): AsyncGenerator<string, void> {
  let count = 0;
  for await (const { text } of lines) {
    // It may take an hour; the service does not wait that long to stop. The caller goes on from the last line's cursor.
    if (closing.aborted) throw new Error('the service stops while an export is under way');
    yield `${text}\n`;
    count += 1;
    if (count >= limit) return;
  }
}

/** Joins texts, so that a record of a few hundred bytes is not a write of its own. */
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
  first: IteratorResult<string, void>,
  rest: AsyncGenerator<string, void>,
  onError: (error: unknown) => void,
): AsyncGenerator<string, void> {
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

function asApiError(error: unknown): never {
  throw error instanceof EventLogUnavailable ? unavailable(error) : error;
}

function unavailable(cause: unknown): ApiError {
  const told = new ApiError('SERVICE_UNAVAILABLE', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  told.cause = cause;
  return told;
}
