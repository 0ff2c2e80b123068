import { once } from 'node:events';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { type ByteRange, type KeptPackage, readPackage } from '../../evidence/exports/read-package.js';
import { describe, type ServiceLogger } from '../../platform/background/part.js';
import type { Queryable } from '../../platform/database/pool.js';

export const PACKAGE_MEDIA_TYPE = 'application/zip';

/** Milliseconds without progress after which the connection is closed. */
const IDLE_MS = 60_000;

export interface SendPackageOptions {
  /** A handle in the role `consent_ledger_api`. */
  readonly db: Queryable;
  readonly logger: ServiceLogger;
}

/**
 * Sends a package, or the part in the request's Range, as a stream. The first chunk is read before
 * the response starts, so that an early failure has its own status. A later failure closes the
 * connection, and the response is shorter than its Content-Length: a truncated package never looks
 * complete.
 * @param beforeSending called once the package is known to be readable
 * @throws ApiError RANGE_NOT_SATISFIABLE, EXPORT_GONE; ExportUnreadable
 */
export async function sendPackage(
  { db, logger }: SendPackageOptions,
  reply: FastifyReply,
  kept: KeptPackage,
  beforeSending: () => Promise<void>,
): Promise<void> {
  const { siteId, exportId, bytes } = kept;
  const etag = `"${toHex(kept.sha256)}"`;
  const { range: rangeHeader, 'if-range': ifRange } = reply.request.headers;
  const asked = rangeOf(rangeHeader, typeof ifRange === 'string' ? ifRange : undefined, etag, bytes);
  if (asked === 'unsatisfiable') {
    throw new ApiError('RANGE_NOT_SATISFIABLE', undefined, { headers: { 'content-range': `bytes */${bytes}` } });
  }
  const range: ByteRange = asked === 'whole' ? { first: 0, last: bytes - 1 } : asked;
  const body = Readable.from(readPackage(db, kept, range), { highWaterMark: 1 });
  body.once('error', (error) => {
    logger.error({ export: exportId, reason: describe(error) }, 'a download failed');
  });
  try {
    await once(body, 'readable');
    await beforeSending();
  } catch (error) {
    body.destroy();
    throw error;
  }
  // A call that does not come through a server has no connection.
  if (reply.raw.socket instanceof Socket) reply.raw.socket.setTimeout(IDLE_MS);
  reply.headers({
    'content-type': PACKAGE_MEDIA_TYPE,
    'content-length': String(range.last - range.first + 1),
    'content-disposition': `attachment; filename="evidence-${siteId}-${exportId}.zip"`,
    'accept-ranges': 'bytes',
    etag,
    // RFC 9530: the digest covers the whole package, even if only a part is sent.
    'repr-digest': `sha-256=:${Buffer.from(kept.sha256).toString('base64')}:`,
    ...(asked !== 'whole' && { 'content-range': `bytes ${range.first}-${range.last}/${bytes}` }),
  });
  // Not awaited, because awaiting a reply waits for its end.
  reply.code(asked === 'whole' ? 200 : 206).send(body);
}

/** The requested part: the whole, a range, or an unsatisfiable range. */
export type RangeAnswer = 'whole' | 'unsatisfiable' | ByteRange;

/**
 * Parses a Range header with one range (RFC 9110 §14.1.2): `bytes=0-99`, `bytes=100-`, `bytes=-50`.
 * Malformed headers and several ranges are ignored, as the RFC permits.
 * @param ifRange the If-Range header; an entity tag other than `etag` selects the whole
 * @param size bytes of the whole
 */
export function rangeOf(
  range: string | undefined,
  ifRange: string | undefined,
  etag: string,
  size: number,
): RangeAnswer {
  if (range === undefined || (ifRange !== undefined && ifRange !== etag)) return 'whole';
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range) ?? [];
  if (from === '' && to === '') return 'whole';
  if (from === '') {
    const length = Math.min(Number(to), size);
    return length === 0 ? 'unsatisfiable' : { first: size - length, last: size - 1 };
  }
  const first = Number(from);
  if (to !== '' && Number(to) < first) return 'whole';
  if (first >= size) return 'unsatisfiable';
  return { first, last: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}
