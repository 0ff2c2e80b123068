import * as z from 'zod';
import { ApiError } from '../../../../schemas/api/error-codes.js';
import type { PanelRoutesOptions } from '../deps.js';
import { keyOfCursor, pageOfRows } from '../page.js';
import { type PanelRoute, reads } from '../route.js';
import { listBatches, listCheckpoints, readBatch, readCheckpoint, readTimestampStatus } from './operations.js';
import { ownBatches, ownStreams } from './own-entries.js';
import { checkpointOfSize, checkpointsBelow, showBatches } from './show-checkpoints.js';
import { timestampStatus } from './status.js';

/**
 * The ledger belongs to the whole installation. A tenant sees the batches with entries of its own,
 * and every checkpoint, which are public.
 */
export function timestampRoutes({ apiPool, config }: PanelRoutesOptions): readonly PanelRoute[] {
  return [
    reads(listBatches, async ({ user, query }) => {
      const [, below = null] = keyOfCursor(BatchCursor, query) ?? [];
      const own = await ownBatches(apiPool, await ownStreams(apiPool, user.tenantId), below, query.limit + 1);
      return pageOfRows(
        query,
        await showBatches(apiPool, own),
        ({ number }) => ['batches', number],
        (batch) => batch,
      );
    }),
    reads(readBatch, async ({ user, params: { number } }) => {
      const own = await ownBatches(apiPool, await ownStreams(apiPool, user.tenantId), number + 1, 1);
      const [batch] = await showBatches(
        apiPool,
        own.filter((one) => one.number === number),
      );
      if (batch === undefined) throw new ApiError('RESOURCE_NOT_FOUND');
      return { data: batch };
    }),
    reads(listCheckpoints, async ({ query }) => {
      const [, below = null] = keyOfCursor(CheckpointCursor, query) ?? [];
      const rows = await checkpointsBelow(apiPool, below, query.limit + 1);
      return pageOfRows(
        query,
        rows,
        ({ size }) => ['checkpoints', size],
        (checkpoint) => checkpoint,
      );
    }),
    reads(readCheckpoint, async ({ params }) => {
      const checkpoint = await checkpointOfSize(apiPool, params.size);
      if (checkpoint === null) throw new ApiError('RESOURCE_NOT_FOUND');
      return { data: checkpoint };
    }),
    reads(readTimestampStatus, async ({ user }) => ({ data: await timestampStatus(apiPool, config, user.tenantId) })),
  ];
}

const BatchCursor = z.tuple([z.literal('batches'), z.int().min(0)]);
const CheckpointCursor = z.tuple([z.literal('checkpoints'), z.int().min(0)]);
