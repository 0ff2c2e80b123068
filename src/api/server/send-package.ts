import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { type ByteRange, type KeptPackage, readPackage } from '../../evidence/exports/read-package.js';
import type { ServiceLogger } from '../../platform/background/part.js';
import { describe } from '../../platform/background/run-under-lease.js';
import type { Queryable } from '../../platform/database/pool.js';
import { rangeOf } from './byte-range.js';

export const PACKAGE_MEDIA_TYPE = 'application/zip';

/** Time without a byte taken after which a caller is given up. */
const IDLE_MS = 60_000;

export interface SendPackageOptions {
  /** As `consent_ledger_api`. */
  readonly db: Queryable;
  readonly logger: ServiceLogger;
}

/**
 * Answers with a package, or the part of it that the request's Range names, as a stream. Its first
 * piece is read before the answer begins, so that a failure until then has a status of its own;
 * after a later one the connection is cut, and the answer is shorter than its Content-Length: it
 * never ends as if it were whole.
 * @param beforeSending called once it is known that the package can be read
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
  reply.raw.setTimeout(IDLE_MS);
  reply.headers({
    'content-type': PACKAGE_MEDIA_TYPE,
    'content-length': String(range.last - range.first + 1),
    'content-disposition': `attachment; filename="evidence-${siteId}-${exportId}.zip"`,
    'accept-ranges': 'bytes',
    etag,
    // RFC 9530: of the whole package, whatever part is sent.
    'repr-digest': `sha-256=:${Buffer.from(kept.sha256).toString('base64')}:`,
    ...(asked !== 'whole' && { 'content-range': `bytes ${range.first}-${range.last}/${bytes}` }),
  });
  // Not awaited: a reply is a promise of its own end.
  reply.code(asked === 'whole' ? 200 : 206).send(body);
}
