import type { FastifyInstance } from 'fastify';
import {
  type CheckpointsResponse,
  type ConsistencyResponse,
  MAX_CHECKPOINTS,
} from '../../../schemas/api/checkpoints.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { consistencyRanges } from '../../../schemas/merkle/proofs.js';
import { readTreeProof } from '../../pipeline/ledger/batch-nodes.js';
import {
  listCheckpoints,
  readCosignatures,
  readLargestSize,
  readNote,
  readToken,
} from '../../pipeline/ledger/read-checkpoints.js';
import { readLedgerKeys, readPublishedKeys } from '../../pipeline/ledger/read-ledger.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { FairTurns } from '../guards/fair-turns.js';
import { FOR_MINUTES, type PublicDocument, publicDocument } from '../server/send-document.js';
import {
  getCheckpointCosignatures,
  getCheckpointNote,
  getCheckpointToken,
  getConsistencyProof,
  getLedgerKey,
  getTsaRoots,
  listLedgerKeys,
  listStampedCheckpoints,
  PEM,
} from './operations.js';
import { documentsOf, FOREVER, SHORTLY } from './serve-document.js';

/**
 * Registers the stamped checkpoints, the keys of the ledger and the roots of its time stamps. Any
 * cache may store the responses.
 * @param readTsaRoots the root certificates in PEM; null: this process does not have them
 * @param turns turns of addresses
 */
export function checkpointRoutes(
  scope: FastifyInstance,
  db: Queryable,
  readTsaRoots: () => Promise<string | null>,
  turns: FairTurns,
): void {
  const serve = documentsOf(scope, turns);
  const list = serve(listStampedCheckpoints, async (_params, { after = 0 }) => {
    const keys = (await readLedgerKeys(db)).flatMap((one) => [one.key, one.ml_dsa_key]);
    const checkpoints = await listCheckpoints(db, after);
    const last = checkpoints.length < MAX_CHECKPOINTS ? undefined : checkpoints.at(-1);
    const answer: CheckpointsResponse = { data: { keys, checkpoints } };
    return json(answer, SHORTLY, last && [`</checkpoints/?after=${last.size}>; rel="next"`]);
  });
  // The base URI of the ledger, as the API catalog names it.
  scope.get('/checkpoints/', list);
  serve(listLedgerKeys, async () => json({ data: { keys: await readPublishedKeys(db) } }, FOR_MINUTES));
  serve(getLedgerKey, async () => {
    const inForce = (await readLedgerKeys(db)).at(-1);
    if (inForce === undefined) throw new ApiError('RESOURCE_NOT_FOUND', 'The ledger has not published a key yet.');
    return text(`${inForce.key}\n${inForce.ml_dsa_key}\n`, FOR_MINUTES);
  });
  serve(getTsaRoots, async () => {
    const roots = await readTsaRoots();
    if (roots === null)
      throw new ApiError(
        'RESOURCE_NOT_FOUND',
        'This process does not have the root certificates. Get them from the time stamp authorities.',
      );
    return publicDocument({ contentType: PEM, body: roots, cacheControl: FOR_MINUTES });
  });
  serve(getCheckpointNote, async ({ size }) => text(existing(await readNote(db, size)), FOREVER));
  serve(getCheckpointToken, async ({ size, number }) => {
    const body = existing(await readToken(db, size, number));
    return publicDocument({ contentType: 'application/timestamp-reply', body, cacheControl: FOREVER });
  });
  serve(getCheckpointCosignatures, async ({ size }) => {
    existing(await readNote(db, size));
    return text(await readCosignatures(db, size), SHORTLY);
  });
  serve(getConsistencyProof, async ({ size, from }) => {
    if (from >= size || size > (await readLargestSize(db))) throw new ApiError('CHECKPOINT_NOT_FOUND');
    const hashes = await readTreeProof(db, consistencyRanges(from, size));
    if (hashes === null) throw new Error('a node of the ledger tree is missing');
    const answer: ConsistencyResponse = { data: { from, size, hashes: hashes.map(toHex) } };
    return json(answer, FOREVER);
  });
}

function existing<T>(found: T | null): T {
  if (found === null) throw new ApiError('CHECKPOINT_NOT_FOUND');
  return found;
}

function json(content: object, cacheControl: string, links?: readonly string[]): PublicDocument {
  const contentType = 'application/json; charset=utf-8';
  return publicDocument({ contentType, body: JSON.stringify(content), cacheControl, ...(links && { links }) });
}

function text(body: string, cacheControl: string): PublicDocument {
  return publicDocument({ contentType: 'text/plain; charset=utf-8', body, cacheControl });
}
