import { X509Certificate } from 'node:crypto';
import * as z from 'zod';
import { checkpointLinks } from '../../../schemas/api/checkpoints.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import {
  BatchesPage,
  BatchParams,
  BatchResponse,
  CheckpointParams,
  CheckpointResponse,
  CheckpointsPage,
  TimestampStatusResponse,
  TimestampsQuery,
} from '../../../schemas/api/panel/timestamps.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { parseCheckpoint } from '../../../schemas/evidence/checkpoint.js';
import { parseNote } from '../../../schemas/evidence/signed-note.js';
import { joinFirstStamp } from '../../pipeline/ledger/read-checkpoints.js';
import type { Queryable } from '../../platform/database/pool.js';
import { isDevelopmentStamp, stampedBy } from '../../timestamping/authorities.js';
import { READERS } from './caller.js';
import { route } from './deps.js';
import { keyOfCursor, pageOfRows } from './page.js';
import { type OwnBatch, ownBatches, ownStreams, timestampStatus } from './timestamp-status.js';

const shared = { auth: 'panel', tag: 'Time stamps', roles: READERS } as const;

/**
 * The ledger belongs to the whole installation. A tenant sees the Merkle batches that hold its own entries, and all
 * checkpoints, which are public.
 */
export const TIMESTAMP_OPERATIONS = [
  route({
    ...shared,
    id: 'listBatches',
    path: '/api/v1/timestamps/batches',
    summary: 'List the sealed batches with entries of the tenant’s sites, newest first',
    description:
      'Batches without an entry of the tenant are omitted, because their number would reveal how much other tenants record. Every value shown is also in evidence packages of the tenant.',
    query: TimestampsQuery,
    response: BatchesPage,
    handle: async ({ user, query }, { apiPool }) => {
      const [, below = null] = keyOfCursor(BatchCursor, query) ?? [];
      const own = await ownBatches(apiPool, await ownStreams(apiPool, user.tenantId), below, query.limit + 1);
      return pageOfRows(
        query,
        await showBatches(apiPool, own),
        ({ number }) => ['batches', number],
        (batch) => batch,
      );
    },
  }),
  route({
    ...shared,
    id: 'readBatch',
    path: '/api/v1/timestamps/batches/{number}',
    summary: 'Get a batch with entries of the tenant’s sites',
    params: BatchParams,
    response: BatchResponse,
    errors: ['RESOURCE_NOT_FOUND'],
    handle: async ({ user, params: { number } }, { apiPool }) => {
      const own = await ownBatches(apiPool, await ownStreams(apiPool, user.tenantId), number + 1, 1);
      const [batch] = await showBatches(
        apiPool,
        own.filter((one) => one.number === number),
      );
      if (batch === undefined) throw new ApiError('RESOURCE_NOT_FOUND');
      return { data: batch };
    },
  }),
  route({
    ...shared,
    id: 'listCheckpoints',
    path: '/api/v1/timestamps/checkpoints',
    summary: 'List the stamped checkpoints of the ledger, newest first',
    description: 'Checkpoints are public, and those of the whole installation. They contain nothing about tenants.',
    query: TimestampsQuery,
    response: CheckpointsPage,
    handle: async ({ query }, { apiPool }) => {
      const [, below = null] = keyOfCursor(CheckpointCursor, query) ?? [];
      const rows = await checkpointsBelow(apiPool, below, query.limit + 1);
      return pageOfRows(
        query,
        rows,
        ({ size }) => ['checkpoints', size],
        (checkpoint) => checkpoint,
      );
    },
  }),
  route({
    ...shared,
    id: 'readCheckpoint',
    path: '/api/v1/timestamps/checkpoints/{size}',
    summary: 'Get a stamped checkpoint, with links to its note and token',
    params: CheckpointParams,
    response: CheckpointResponse,
    errors: ['RESOURCE_NOT_FOUND'],
    handle: async ({ params }, { apiPool }) => {
      const checkpoint = await checkpointOfSize(apiPool, params.size);
      if (checkpoint === null) throw new ApiError('RESOURCE_NOT_FOUND');
      return { data: checkpoint };
    },
  }),
  route({
    ...shared,
    id: 'readTimestampStatus',
    path: '/api/v1/timestamps/status',
    summary: 'Get the entries that are not sealed or stamped yet, and the last time stamp',
    response: TimestampStatusResponse,
    handle: async ({ user }, { apiPool, config }) => ({
      data: await timestampStatus(apiPool, config, user.tenantId),
    }),
  }),
];

const BatchCursor = z.tuple([z.literal('batches'), z.int().min(0)]);
const CheckpointCursor = z.tuple([z.literal('checkpoints'), z.int().min(0)]);

type ShownCheckpoint = z.infer<typeof CheckpointsPage>['data'][number];
type ShownBatch = z.infer<typeof BatchesPage>['data'][number];

const CheckpointRows = z.array(
  z.object({
    size: z.int(),
    note: z.string(),
    gen_time: z.date(),
    authorities: z.array(z.string()),
    tokens: z.int(),
    is_development: z.boolean(),
    certificates: z.array(z.instanceof(Buffer)),
  }),
);

const SELECT_CHECKPOINTS = `
select c.size, c.note, c.gen_time, c.authorities, c.tokens, ${isDevelopmentStamp('c')} as is_development,
       array(select e.bytes from kept_evidence e where e.sha256 = any(c.certificates) and e.kind = 'certificate') as certificates
  from checkpoints c`;

/**
 * Reads stamped checkpoints, newest first.
 * @param below only checkpoints of a smaller size are read; null permits all
 */
export async function checkpointsBelow(db: Queryable, below: number | null, limit: number): Promise<ShownCheckpoint[]> {
  const { rows } = await db.query(
    `${SELECT_CHECKPOINTS} where $1::bigint is null or c.size < $1 order by c.size desc limit $2`,
    [below, limit],
  );
  return CheckpointRows.parse(rows).map(shown);
}

/** Reads the stamped checkpoint of exactly this size, or null if there is none. */
export async function checkpointOfSize(db: Queryable, size: number): Promise<ShownCheckpoint | null> {
  const { rows } = await db.query(`${SELECT_CHECKPOINTS} where c.size = $1`, [size]);
  return CheckpointRows.parse(rows).map(shown)[0] ?? null;
}

function shown(row: z.infer<typeof CheckpointRows>[number]): ShownCheckpoint {
  const note = parseNote(row.note);
  const checkpoint = note === null ? null : parseCheckpoint(note.text);
  if (checkpoint === null) throw new Error(`the stored note of checkpoint ${row.size} is malformed`);
  const ends = row.certificates.map((bytes) => Date.parse(new X509Certificate(bytes).validTo));
  return {
    size: row.size,
    root: toHex(checkpoint.root),
    gen_time: row.gen_time.toISOString(),
    authorities: stampedBy(row),
    certificates_expire_at: ends.length === 0 ? null : new Date(Math.min(...ends)).toISOString(),
    ...checkpointLinks(row.size, row.tokens),
  };
}

const BatchRows = z.array(
  z.object({
    number: z.int(),
    header: z.string(),
    root: z.instanceof(Buffer),
    sealed_at: z.date(),
    size: z.int().nullable(),
    gen_time: z.date().nullable(),
    tokens: z.int().nullable(),
  }),
);

/** Returns Merkle batches as tenants with entries in them see them. */
export async function showBatches(db: Queryable, own: readonly OwnBatch[]): Promise<ShownBatch[]> {
  const { rows } = await db.query(
    `select b.number, b.header, b.root, b.sealed_at, c.size, c.gen_time, c.tokens
       from batches b
       ${joinFirstStamp('b.number', 'size, gen_time, tokens', 'c')}
      where b.number = any($1::bigint[])`,
    [own.map(({ number }) => number)],
  );
  const byNumber = new Map(BatchRows.parse(rows).map((row) => [row.number, row]));
  return own.map(({ number, entries }) => {
    const row = byNumber.get(number);
    if (row === undefined) throw new Error(`batch ${number} has leaves, and no row`);
    return {
      number,
      sealed_at: row.sealed_at.toISOString(),
      own_entries: entries,
      root: toHex(row.root),
      header: row.header,
      checkpoint:
        row.size === null || row.gen_time === null || row.tokens === null
          ? null
          : { size: row.size, gen_time: row.gen_time.toISOString(), ...checkpointLinks(row.size, row.tokens) },
    };
  });
}
