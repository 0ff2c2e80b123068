import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { z } from 'zod';
import {
  CheckpointsQuery,
  type CheckpointsResponse,
  type ConsistencyResponse,
  MAX_CHECKPOINTS,
  TreeSize,
} from '../../../../schemas/api/checkpoints.js';
import { ApiError } from '../../../../schemas/api/error-codes.js';
import { toHex } from '../../../../schemas/crypto/encoding.js';
import { consistencyRanges } from '../../../../schemas/merkle/proofs.js';
import { ledgerProof } from '../../../verification/ledger-proof.js';
import { validate } from '../../json-body.js';

// A stamped checkpoint is frozen; the list grows.
const FOREVER = 'public, max-age=31536000, immutable';
const SHORTLY = 'public, max-age=10';

const Params = z.object({ size: TreeSize, from: TreeSize.optional() });

/** The stamped checkpoints, for everybody: they say nothing of tenants, sites or records. Answers may be kept by any cache. */
export function checkpointRoutes(scope: FastifyInstance, pool: pg.Pool): void {
  scope.get('/checkpoints', async (request, reply): Promise<CheckpointsResponse> => {
    const { after = 0 } = validate(CheckpointsQuery, request.query);
    const response = { data: { keys: await readKeys(pool), checkpoints: await listCheckpoints(pool, after) } };
    reply.header('cache-control', SHORTLY);
    return response;
  });
  scope.get('/checkpoints/:size/note', async (request, reply) => {
    const { note } = await readCheckpoint(pool, sizesOf(request.params).size);
    return reply.header('cache-control', FOREVER).type('text/plain; charset=utf-8').send(note);
  });
  scope.get('/checkpoints/:size/token', async (request, reply) => {
    const { tsr } = await readCheckpoint(pool, sizesOf(request.params).size);
    return reply.header('cache-control', FOREVER).type('application/timestamp-reply').send(tsr);
  });
  scope.get('/checkpoints/:size/consistency/:from', async (request, reply): Promise<ConsistencyResponse> => {
    const { size, from = 0 } = sizesOf(request.params);
    if (from >= size) throw new ApiError('CHECKPOINT_NOT_FOUND');
    await readCheckpoint(pool, size);
    await readCheckpoint(pool, from);
    const hashes = await ledgerProof(pool, consistencyRanges(from, size));
    if (hashes === null) throw new Error('a node of the ledger tree is missing');
    reply.header('cache-control', FOREVER);
    return { data: { from, size, hashes: hashes.map(toHex) } };
  });
}

function sizesOf(params: unknown): z.infer<typeof Params> {
  const parsed = Params.safeParse(params);
  if (!parsed.success) throw new ApiError('CHECKPOINT_NOT_FOUND');
  return parsed.data;
}

const CheckpointRow = z.object({ note: z.string(), tsr: z.instanceof(Buffer) });

async function readCheckpoint(pool: pg.Pool, size: number): Promise<z.infer<typeof CheckpointRow>> {
  const { rows } = await pool.query('select note, tsr from checkpoints where size = $1', [size]);
  const [row] = z.array(CheckpointRow).parse(rows);
  if (row === undefined) throw new ApiError('CHECKPOINT_NOT_FOUND');
  return row;
}

async function readKeys(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query('select key from ledger_keys order by published_at, bridge_size nulls first');
  return z
    .array(z.object({ key: z.string() }))
    .parse(rows)
    .map(({ key }) => key);
}

async function listCheckpoints(pool: pg.Pool, after: number) {
  const { rows } = await pool.query('select size, gen_time from checkpoints where size > $1 order by size limit $2', [
    after,
    MAX_CHECKPOINTS,
  ]);
  return z
    .array(z.object({ size: z.int(), gen_time: z.date() }))
    .parse(rows)
    .map(({ size, gen_time }) => ({
      size,
      time: gen_time.toISOString(),
      note: `/checkpoints/${size}/note`,
      token: `/checkpoints/${size}/token`,
    }));
}
