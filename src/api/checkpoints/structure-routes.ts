import { Socket } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { fromHex } from '../../../schemas/crypto/encoding.js';
import { type BatchHeader, isBatch, type StreamKeyOf } from '../../../schemas/evidence/batch-header.js';
import { structureLength } from '../../../schemas/evidence/structure-file.js';
import { TILE_TYPE, TILE_WIDTH, type TilePlace } from '../../../schemas/merkle/tiles.js';
import { readEntryBundle, readTile } from '../../evidence/structure/read-tiles.js';
import { readHeader, writeStructure } from '../../evidence/structure/write-structure.js';
import { readLargestSize, readNote } from '../../pipeline/ledger/read-checkpoints.js';
import { readCosignatures } from '../../pipeline/ledger/read-cosignatures.js';
import { readSaltKey, streamKeysUnder } from '../../pipeline/ledger/stream-keys.js';
import type { Queryable } from '../../platform/database/pool.js';
import { requireBearerToken } from '../server/bearer-token.js';
import { paramsOf, registerOperation } from '../server/register-operation.js';
import { type PublicDocument, publicDocument } from '../server/send-document.js';
import { FOREVER, SHORTLY, serveDocument as serve } from './serve-document.js';
import { getEntryBundle, getNewestCheckpoint, getStructure, getTile } from './structure-operations.js';

/** Milliseconds without progress after which a connection is closed. */
const IDLE_MS = 60_000;
/** Largest file of a roll-up that is held in memory, in bytes. */
const WHOLE_BYTES = 4 * 1024 * 1024;
/** Seconds after which the next attempt at a roll-up is worthwhile. */
const RETRY_SECONDS = 30;

/** SHA-256 digests, in hex, of the bearer tokens of auditors. Empty: everyone may read the structure. */
export type AuditorKeys = readonly string[];

/**
 * Registers the structure of the ledger up to its newest stamped checkpoint (c2sp.org/tlog-tiles, and
 * one file for each leaf). Of roll-ups, whose files can be large, one is sent at a time: it holds one
 * connection to the database.
 * @param wholeBytes largest file of a roll-up that is held in memory
 */
export function structureRoutes(
  scope: FastifyInstance,
  db: Queryable,
  auditors: AuditorKeys,
  wholeBytes: number = WHOLE_BYTES,
): void {
  serve(scope, getNewestCheckpoint, async () => {
    const size = await readLargestSize(db);
    const note = await readNote(db, size);
    if (note === null) throw new ApiError('CHECKPOINT_NOT_FOUND');
    const body = note + (await readCosignatures(db, size));
    return publicDocument({ contentType: 'text/plain; charset=utf-8', body, cacheControl: SHORTLY });
  });
  serve(scope, getTile, async ({ level, tile }) =>
    binary(tile, await readTile(db, level, tile, await readLargestSize(db))),
  );
  serve(scope, getEntryBundle, async ({ tile }) =>
    binary(tile, await readEntryBundle(db, tile, await readLargestSize(db))),
  );
  serveStructure(scope, db, auditors, wholeBytes);
}

function serveStructure(scope: FastifyInstance, db: Queryable, auditors: AuditorKeys, wholeBytes: number): void {
  const digests = auditors.map((hex) => fromHex(hex) ?? new Uint8Array());
  const headers = {
    'access-control-allow-origin': '*',
    'cache-control': digests.length === 0 ? FOREVER : FOREVER.replace('public', 'private'),
  };
  let keys: StreamKeyOf | null = null;
  let isBusy = false;
  registerOperation(scope, getStructure, {
    onRequest: async ({ headers: { authorization } }) => {
      if (digests.length > 0) requireBearerToken(authorization, digests);
    },
    handler: async (request, reply) => {
      const { leaf } = paramsOf(getStructure, request);
      const header = leaf < (await readLargestSize(db)) ? await readHeader(db, leaf) : null;
      if (header === null) throw new ApiError('TILE_NOT_FOUND');
      const length = structureLength(header);
      reply.headers({ ...headers, 'content-type': TILE_TYPE, 'content-length': String(length) });
      keys ??= streamKeysUnder((await readSaltKey(db)) ?? new Uint8Array());
      const isSmall = isBatch(header.level) || length <= wholeBytes;
      if (isSmall) return reply.send(await wholeFile(db, header, keys, length));
      if (request.method === 'HEAD') return reply.send(Readable.from([]));
      if (isBusy)
        throw new ApiError('SERVICE_UNAVAILABLE', 'Another roll-up is being sent.', {
          headers: { 'retry-after': String(RETRY_SECONDS), 'cache-control': 'no-store' },
        });
      isBusy = true;
      stream(db, header, keys, reply, () => {
        isBusy = false;
      });
      return reply;
    },
  });
}

async function wholeFile(db: Queryable, header: BatchHeader, keyOf: StreamKeyOf, length: number): Promise<Buffer> {
  const file = Buffer.alloc(length);
  let at = 0;
  await writeStructure(db, header, keyOf, async (bytes) => {
    file.set(bytes, at);
    at += bytes.length;
  });
  return file;
}

/** A failure closes the connection: the response is shorter than its Content-Length. */
function stream(db: Queryable, header: BatchHeader, keyOf: StreamKeyOf, reply: FastifyReply, onEnd: () => void): void {
  const body = new PassThrough();
  const closed = new Promise<void>((resolve) => body.once('close', resolve));
  const write = async (bytes: Uint8Array): Promise<void> => {
    if (body.destroyed) throw new Error('the client closed the connection');
    if (body.write(bytes)) return;
    await Promise.race([closed, new Promise((resolve) => body.once('drain', resolve))]);
  };
  writeStructure(db, header, keyOf, write)
    .then(
      () => body.end(),
      (error: unknown) => body.destroy(error instanceof Error ? error : new Error(String(error))),
    )
    .finally(onEnd);
  // A call without a server has no connection.
  if (reply.raw.socket instanceof Socket) reply.raw.socket.setTimeout(IDLE_MS);
  reply.send(body);
}

function binary({ width }: TilePlace, body: Uint8Array | null): PublicDocument {
  if (body === null) throw new ApiError('TILE_NOT_FOUND');
  return publicDocument({ contentType: TILE_TYPE, body, cacheControl: width === TILE_WIDTH ? FOREVER : SHORTLY });
}
