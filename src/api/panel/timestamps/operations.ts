import { NoBody, None } from '../../../../schemas/api/panel/common.js';
import {
  BatchesPage,
  BatchParams,
  BatchResponse,
  CheckpointParams,
  CheckpointResponse,
  CheckpointsPage,
  TimestampStatusResponse,
  TimestampsQuery,
} from '../../../../schemas/api/panel/timestamps.js';
import { operation, READERS } from '../operation.js';

const shared = { method: 'get', tag: 'Time stamps', roles: READERS, body: NoBody, status: 200, action: null } as const;

export const listBatches = operation({
  ...shared,
  id: 'listBatches',
  path: '/timestamps/batches',
  summary: 'Sealed batches that hold entries of the tenant’s sites, the newest first',
  description:
    'Batches without an entry of the tenant are not shown: how much others record is nobody’s business. Of the others nothing is shown that evidence packages of the tenant do not hold too.',
  params: None,
  query: TimestampsQuery,
  response: BatchesPage,
  errors: [],
});

export const readBatch = operation({
  ...shared,
  id: 'readBatch',
  path: '/timestamps/batches/{number}',
  summary: 'One batch with entries of the tenant’s sites',
  params: BatchParams,
  query: None,
  response: BatchResponse,
  errors: ['RESOURCE_NOT_FOUND'],
});

export const listCheckpoints = operation({
  ...shared,
  id: 'listCheckpoints',
  path: '/timestamps/checkpoints',
  summary: 'Stamped checkpoints of the ledger, the newest first',
  description: 'They are of the whole installation, public, and say nothing of tenants.',
  params: None,
  query: TimestampsQuery,
  response: CheckpointsPage,
  errors: [],
});

export const readCheckpoint = operation({
  ...shared,
  id: 'readCheckpoint',
  path: '/timestamps/checkpoints/{size}',
  summary: 'One stamped checkpoint, with links to its note and token',
  params: CheckpointParams,
  query: None,
  response: CheckpointResponse,
  errors: ['RESOURCE_NOT_FOUND'],
});

export const readTimestampStatus = operation({
  ...shared,
  id: 'readTimestampStatus',
  path: '/timestamps/status',
  summary: 'What waits to be sealed and stamped, and the last stamp',
  params: None,
  query: None,
  response: TimestampStatusResponse,
  errors: [],
});

export const TIMESTAMP_OPERATIONS = [listBatches, readBatch, listCheckpoints, readCheckpoint, readTimestampStatus];
