import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { z } from 'zod';
import {
  CheckpointsQuery,
  type CheckpointsResponse,
  type ConsistencyResponse,
  MAX_CHECKPOINTS,
  TreeSize,
} from '../../../schemas/api/checkpoints.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { consistencyRanges } from '../../../schemas/merkle/proofs.js';
import { ledgerProof } from '../../evidence/verification/ledger-proof.js';
import { validate } from '../server/json-body.js';
import { FOR_MINUTES, type PublicDocument, publicDocument, sendDocument } from '../server/send-document.js';
import { listCheckpoints, readCheckpoint, readLargestSize } from './read-checkpoints.js';
import { readLedgerKeys } from './read-ledger-keys.js';

// A stamped checkpoint is frozen; the list grows.
const FOREVER = 'public, max-age=31536000, immutable';
const SHORTLY = 'public, max-age=10';

const Params = z.object({ size: TreeSize, from: TreeSize.optional() });

type Answer = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** The stamped checkpoints, for everybody: they say nothing of tenants, sites or records. Answers may be kept by any cache. */
export function checkpointRoutes(scope: FastifyInstance, pool: pg.Pool): void {
  const list: Answer = async (request, reply) => {
    const { after = 0 } = validate(CheckpointsQuery, request.query);
    const keys = (await readLedgerKeys(pool)).map(({ key }) => key);
    const checkpoints = await listCheckpoints(pool, after);
    const last = checkpoints.length < MAX_CHECKPOINTS ? undefined : checkpoints.at(-1);
    const answer: CheckpointsResponse = { data: { keys, checkpoints } };
    const links = last && [`</checkpoints/?after=${last.size}>; rel="next"`];
    return sendDocument(request, reply, json(answer, SHORTLY, links));
  };
  scope.get('/checkpoints', list);
  scope.get('/checkpoints/', list);
  scope.get('/checkpoints/keys', async (request, reply) =>
    sendDocument(request, reply, json({ data: { keys: await readLedgerKeys(pool) } }, FOR_MINUTES)),
  );
  scope.get('/checkpoints/ledger.vkey', async (request, reply) => {
    const inForce = (await readLedgerKeys(pool)).at(-1);
    if (inForce === undefined) throw new ApiError('RESOURCE_NOT_FOUND', 'The ledger has published no key yet.');
    return sendDocument(request, reply, text(`${inForce.key}\n`, FOR_MINUTES));
  });
  scope.get('/checkpoints/:size/note', async (request, reply) => {
    const { note } = await existing(pool, sizesOf(request.params).size);
    return sendDocument(request, reply, text(note, FOREVER));
  });
  scope.get('/checkpoints/:size/token', async (request, reply) => {
    const { tsr } = await existing(pool, sizesOf(request.params).size);
    const contentType = 'application/timestamp-reply';
    return sendDocument(request, reply, publicDocument({ contentType, body: tsr, cacheControl: FOREVER }));
  });
  scope.get('/checkpoints/:size/consistency/:from', async (request, reply) => {
    const { size, from = 0 } = sizesOf(request.params);
    if (from >= size || size > (await readLargestSize(pool))) throw new ApiError('CHECKPOINT_NOT_FOUND');
    const hashes = await ledgerProof(pool, consistencyRanges(from, size));
    if (hashes === null) throw new Error('a node of the ledger tree is missing');
    const answer: ConsistencyResponse = { data: { from, size, hashes: hashes.map(toHex) } };
    return sendDocument(request, reply, json(answer, FOREVER));
  });
}

function sizesOf(params: unknown): z.infer<typeof Params> {
  const parsed = Params.safeParse(params);
  if (!parsed.success) throw new ApiError('CHECKPOINT_NOT_FOUND');
  return parsed.data;
}

async function existing(pool: pg.Pool, size: number) {
  const checkpoint = await readCheckpoint(pool, size);
  if (checkpoint === null) throw new ApiError('CHECKPOINT_NOT_FOUND');
  return checkpoint;
}

function json(content: object, cacheControl: string, links?: readonly string[]): PublicDocument {
  const contentType = 'application/json; charset=utf-8';
  return publicDocument({ contentType, body: JSON.stringify(content), cacheControl, ...(links && { links }) });
}

function text(body: string, cacheControl: string): PublicDocument {
  return publicDocument({ contentType: 'text/plain; charset=utf-8', body, cacheControl });
}
