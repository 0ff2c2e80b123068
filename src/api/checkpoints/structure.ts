import { Socket } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { CANONICAL_DIGITS, numberInUrl } from '../../../schemas/api/common.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { sha256Hex } from '../../../schemas/crypto/digest.js';
import { fromHex } from '../../../schemas/crypto/encoding.js';
import { type BatchHeader, isBatch, type StreamKeyOf } from '../../../schemas/evidence/batch-header.js';
import { structureLength } from '../../../schemas/evidence/structure-file.js';
import {
  parseTileNumber,
  parseTilePath,
  TILE_TYPE,
  TILE_WIDTH,
  type TilePlace,
} from '../../../schemas/merkle/tiles.js';
import {
  readEntryBundle,
  readHeader,
  readTile,
  type WriteBytes,
  writeStructure,
} from '../../evidence/structure/structure.js';
import { readCosignatures, readLargestSize, readNote } from '../../pipeline/ledger/read-checkpoints.js';
import { readSaltKey, streamKeysUnder } from '../../pipeline/ledger/stream-keys.js';
import { createByteCache } from '../../platform/caches.js';
import type { Queryable } from '../../platform/database/pool.js';
import { createYieldToOthers, type FairScheduler, type YieldToOthers } from '../guards/fair-scheduler.js';
import { requireBearerToken } from '../server/caller.js';
import { goneClient } from '../server/gone-client.js';
import { atLeastRate } from '../server/least-rate.js';
import type { Operation } from '../server/operation.js';
import { parsedParts, registerOperation } from '../server/register-operation.js';
import { routesWith } from '../server/route.js';
import { type PublicDocument, publicDocument } from '../server/send-document.js';
import { rangeOf } from '../server/send-package.js';
import { FOREVER, SHORTLY, serveDocuments } from './serve-documents.js';

const TILE = z
  .string()
  .transform(parseTilePath)
  .pipe(z.object({ index: z.int(), width: z.int() }))
  .meta({ description: 'Place of the tile, such as `x001/x234/067` or, if it is partial, `000.p/5`.' });

const TileParams = z.object({
  level: numberInUrl(0, 63, 'must be a level from 0 to 63', CANONICAL_DIGITS).describe('Level of the tile.'),
  tile: TILE,
});
const BundleParams = z.object({ tile: TILE });
const StructureParams = z.object({
  leaf: z
    .string()
    .transform(parseTileNumber)
    .pipe(z.int())
    .meta({ description: 'Number of the leaf of the ledger tree, written as the place of a tile: `000`.' }),
});

const route = routesWith<{ readonly db: Queryable }>();

const shared = { auth: 'public', tag: 'Ledger', invalidParams: 'TILE_NOT_FOUND' } as const;

const DOCUMENTS = [
  route({
    ...shared,
    id: 'getNewestCheckpoint',
    path: '/checkpoints/log/checkpoint',
    summary: 'Get the newest stamped checkpoint, with its cosignatures',
    description:
      'The checkpoint of a tiled log (C2SP tlog-tiles) with the prefix `/checkpoints/log`. Tiles and structure files reach up to it.',
    download: { mediaType: 'text/plain', description: 'The signed note, and the lines of witnesses.' },
    errors: ['CHECKPOINT_NOT_FOUND', 'SERVICE_UNAVAILABLE'],
    handle: async (_call, { db }) => {
      const size = await readLargestSize(db);
      const note = await readNote(db, size);
      if (note === null) throw new ApiError('CHECKPOINT_NOT_FOUND');
      const body = note + (await readCosignatures(db, size));
      return publicDocument({ contentType: 'text/plain; charset=utf-8', body, cacheControl: SHORTLY });
    },
  }),
  route({
    ...shared,
    id: 'getTile',
    path: '/checkpoints/log/tile/{level}/{tile}',
    isLastSlashed: true,
    summary: 'Get a tile of the ledger tree',
    description: 'Hashes of a level of the tree, 32 bytes each (C2SP tlog-tiles).',
    params: TileParams,
    download: { mediaType: TILE_TYPE, description: 'At most 256 hashes.' },
    errors: ['TILE_NOT_FOUND', 'SERVICE_UNAVAILABLE'],
    example: { path: { level: '0', tile: '000.p/1' } },
    handle: async ({ params: { level, tile } }, { db }) =>
      binary(tile, await readTile(db, level, tile, await readLargestSize(db))),
  }),
  route({
    ...shared,
    id: 'getEntryBundle',
    path: '/checkpoints/log/tile/entries/{tile}',
    isLastSlashed: true,
    summary: 'Get a bundle of the entries of the ledger tree',
    description: 'The entries are headers of batches and roll-ups (C2SP tlog-tiles).',
    params: BundleParams,
    download: { mediaType: TILE_TYPE, description: 'Entries, each after its length as two bytes, big-endian.' },
    errors: ['TILE_NOT_FOUND', 'SERVICE_UNAVAILABLE'],
    example: { path: { tile: '000.p/1' } },
    handle: async ({ params: { tile } }, { db }) =>
      binary(tile, await readEntryBundle(db, tile, await readLargestSize(db))),
  }),
];

const getStructure = routesWith<SendStructure>()({
  ...shared,
  auth: 'open',
  id: 'getStructure',
  path: '/checkpoints/log/structure/{leaf}',
  isLastSlashed: true,
  summary: 'Get the structure of a batch or roll-up',
  description:
    'Its runs in the order of `streams_root`, each as key (32 bytes), first and last revision (8 bytes each, big-endian), then its tags in the order of `tags_root` (32 bytes each). If the operator restricts the structure to auditors, the request has the header `Authorization: Bearer`. `Range` resumes a download. Large roll-ups are served to two clients at a time, and to one at one address, which must take 16 kB a second on average. 503 has `Retry-After`.',
  params: StructureParams,
  download: { mediaType: TILE_TYPE, description: 'The header of the leaf states how many runs and tags follow.' },
  errors: [
    'TILE_NOT_FOUND',
    'MISSING_BEARER_TOKEN',
    'INVALID_BEARER_TOKEN',
    'RANGE_NOT_SATISFIABLE',
    'SERVICE_UNAVAILABLE',
  ],
  example: { path: { leaf: '000' } },
  handle: ({ params, request, reply }, send) => send(params.leaf, request, reply),
});

/** The structure of the ledger, from which anyone recomputes its roll-ups. */
export const STRUCTURE_OPERATIONS: readonly Operation[] = [...DOCUMENTS, getStructure];

/** Largest roll-up file that is held in memory, in bytes. */
const WHOLE_BYTES = 4 * 1024 * 1024;
/** Size of the cache of files, and of the largest file in it, in bytes. */
const KEPT_BYTES = 32 * 1024 * 1024;
const LARGEST_KEPT_BYTES = 4 * 1024 * 1024;
/** Large roll-ups that are sent at a time, at most one per address. Each holds a database connection. */
const STREAMS = 2;
/** Number of bytes of a file after which other requests get their turn. The file of most leaves takes one step. */
const STEP_BYTES = 256 * 1024;
/** Time after which a client should retry a large roll-up, in seconds. */
const RETRY_SECONDS = 30;
/** Milliseconds that a client has for each part of the response once the file is complete. */
const LAST_PART_MS = 60_000;

/** SHA-256 digests, in hex, of the bearer tokens of auditors. If it is empty, everyone may read the structure. */
export type AuditorKeys = readonly string[];

export interface StructureOptions {
  readonly auditors: AuditorKeys;
  /** Schedules the requests by address. */
  readonly turns: FairScheduler;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** Largest roll-up file that is held in memory, in bytes; smaller in tests. */
  readonly wholeBytes?: number;
}

/**
 * Registers the structure of the ledger up to its newest stamped checkpoint (c2sp.org/tlog-tiles, and one file for each
 * leaf). Addresses take turns at having files made, and a bounded number of bytes is cached. Large roll-ups are
 * generated while they are sent, to two addresses at a time, and clients that read too slowly are disconnected.
 */
export function structureRoutes(scope: FastifyInstance, db: Queryable, options: StructureOptions): void {
  serveDocuments(scope, DOCUMENTS, { db }, options.turns);
  const digests = options.auditors.map((hex) => fromHex(hex) ?? new Uint8Array());
  const send = structureSender(db, options);
  registerOperation(scope, getStructure, {
    onRequest: async ({ headers: { authorization } }) => {
      if (digests.length > 0) requireBearerToken(authorization, digests);
    },
    handler: (request, reply) => getStructure.handle({ ...parsedParts(getStructure, request), request, reply }, send),
  });
}

/** Sends the file of a leaf. */
type SendStructure = (leaf: number, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

function structureSender(db: Queryable, options: StructureOptions): SendStructure {
  const { auditors, turns, now, wholeBytes = WHOLE_BYTES } = options;
  const shared = {
    'access-control-allow-origin': '*',
    'accept-ranges': 'bytes',
    'cache-control': auditors.length === 0 ? FOREVER : FOREVER.replace('public', 'private'),
    'content-type': TILE_TYPE,
  };
  const files = createByteCache({ maxBytes: KEPT_BYTES, maxEntryBytes: LARGEST_KEPT_BYTES });
  const streaming = new Set<string>();
  let keys: StreamKeyOf | null = null;
  /** The header, and the file if it is not a large roll-up. */
  const made = async (leaf: number, isAsked: boolean, yieldToOthers: YieldToOthers) => {
    const header = leaf < (await readLargestSize(db)) ? await readHeader(db, leaf) : null;
    if (header === null) throw new ApiError('TILE_NOT_FOUND');
    keys ??= streamKeysUnder((await readSaltKey(db)) ?? new Uint8Array());
    const keyOf = keys;
    const isLarge = !isBatch(header.level) && structureLength(header) > wholeBytes;
    // After a restore, the ledger may have another leaf with this number.
    const name = `${leaf} ${header.streams_root} ${header.tags_root}`;
    const file = isAsked && !isLarge ? await files.get(name, () => wholeFile(db, header, keyOf, yieldToOthers)) : null;
    return { header, keyOf, file };
  };
  return async (leaf, request, reply) => {
    const { countedClient: client } = request;
    const isAsked = request.method !== 'HEAD';
    const { header, keyOf, file } = await turns.take(
      client,
      (yieldToOthers) => made(leaf, isAsked, yieldToOthers),
      goneClient(reply),
    );
    const length = structureLength(header);
    if (!isAsked) return reply.headers({ ...shared, 'content-length': String(length) }).send(Readable.from([]));
    const range = rangeIn(request, header, length, file === null);
    const headers = { ...shared, ...range.headers };
    if (file !== null) {
      return reply.code(range.status).headers(headers).send(file.subarray(range.first, range.end));
    }
    if (streaming.has(client) || streaming.size >= STREAMS)
      throw new ApiError('SERVICE_UNAVAILABLE', 'Another roll-up is being sent.', {
        retryAfterSeconds: RETRY_SECONDS,
        headers: { 'cache-control': 'no-store' },
      });
    streaming.add(client);
    stream(reply, now, { ...range, headers }, (write) => writeStructure(db, header, keyOf, write)).finally(() =>
      streaming.delete(client),
    );
    return reply;
  };
}

async function wholeFile(
  db: Queryable,
  header: BatchHeader,
  keyOf: StreamKeyOf,
  yieldToOthers: YieldToOthers,
): Promise<Buffer> {
  const file = Buffer.alloc(structureLength(header));
  let at = 0;
  let restedAt = 0;
  await writeStructure(db, header, keyOf, async (bytes) => {
    file.set(bytes, at);
    at += bytes.length;
    if (at - restedAt < STEP_BYTES) return;
    await yieldToOthers();
    restedAt = at;
  });
  return file;
}

interface Part {
  readonly status: 200 | 206;
  readonly first: number;
  /** Offset after its last byte. */
  readonly end: number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Returns the part of a file that a request asks for, so that downloads can resume.
 * @param isMade whether the file is generated while it is sent. A range that ends before the file does is then ignored,
 *   as RFC 9110 §14.2 permits: its bytes would be sent before the file has been compared with the commitment of its
 *   header.
 * @throws ApiError RANGE_NOT_SATISFIABLE
 */
function rangeIn({ headers }: FastifyRequest, header: BatchHeader, length: number, isMade: boolean): Part {
  const etag = `"${sha256Hex(`${header.number} ${header.streams_root} ${header.tags_root}`).slice(0, 32)}"`;
  const ifRange = headers['if-range'];
  const asked = rangeOf(headers.range, typeof ifRange === 'string' ? ifRange : undefined, etag, length);
  if (asked === 'unsatisfiable')
    throw new ApiError('RANGE_NOT_SATISFIABLE', undefined, { headers: { 'content-range': `bytes */${length}` } });
  if (asked === 'whole' || (isMade && asked.last < length - 1))
    return { status: 200, first: 0, end: length, headers: { etag, 'content-length': String(length) } };
  const { first, last } = asked;
  const part = { 'content-length': String(last - first + 1), 'content-range': `bytes ${first}-${last}/${length}` };
  return { status: 206, first, end: last + 1, headers: { etag, ...part } };
}

/**
 * Sends a file from an offset to its end while it is made. If it fails after the first bytes, or the client is too
 * slow, the connection is closed, and the response is shorter than its Content-Length.
 * @returns a promise that resolves when the file is complete
 */
async function stream(
  reply: FastifyReply,
  now: () => number,
  { status, first, headers }: Part,
  make: (write: WriteBytes) => Promise<void>,
): Promise<void> {
  const body = new PassThrough();
  const write = atLeastRate(body, now);
  const yieldToOthers = createYieldToOthers(now);
  let skip = first;
  let isStarted = false;
  const start = (): void => {
    if (!isStarted) reply.code(status).headers(headers).send(body);
    isStarted = true;
  };
  try {
    await make(async (bytes) => {
      const wanted = bytes.subarray(Math.min(skip, bytes.length));
      skip -= bytes.length - wanted.length;
      if (wanted.length > 0) start();
      await write(wanted);
      await yieldToOthers();
    });
    start();
    // A call that does not come through a server has no connection.
    if (reply.raw.socket instanceof Socket) reply.raw.socket.setTimeout(LAST_PART_MS);
    body.end();
  } catch (error) {
    const reason = error instanceof Error ? error : new Error(String(error));
    if (isStarted) body.destroy(reason);
    else reply.send(reason);
  }
}

function binary({ width }: TilePlace, body: Uint8Array | null): PublicDocument {
  if (body === null) throw new ApiError('TILE_NOT_FOUND');
  return publicDocument({ contentType: TILE_TYPE, body, cacheControl: width === TILE_WIDTH ? FOREVER : SHORTLY });
}
