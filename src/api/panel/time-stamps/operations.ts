import { NoBody, None } from '../../../../schemas/api/panel/common.js';
import {
  BatchesPage,
  BatchParams,
  BatchResponse,
  CheckpointParams,
  CheckpointResponse,
  CheckpointsPage,
  TimeStampStatusResponse,
  TimeStampsQuery,
} from '../../../../schemas/api/panel/time-stamps.js';
import { operation, READERS } from '../operation.js';

const shared = { method: 'get', tag: 'Time stamps', roles: READERS, body: NoBody, status: 200, action: null } as const;

export const listBatches = operation({
  ...shared,
  id: 'listBatches',
  path: '/time-stamps/batches',
  summary: 'Sealed batches that hold entries of the tenant’s sites, the newest first',
  description:
    'Batches without an entry of the tenant are not shown: how much others record is nobody’s business. Of the others nothing is shown that evidence packages of the tenant do not hold too.',
  params: None,
  query: TimeStampsQuery,
  response: BatchesPage,
  errors: [],
});

export const readBatch = operation({
  ...shared,
  id: 'readBatch',
  path: '/time-stamps/batches/{number}',
  summary: 'One batch with entries of the tenant’s sites',
  params: BatchParams,
  query: None,
  response: BatchResponse,
  errors: ['RESOURCE_NOT_FOUND'],
});

export const listCheckpoints = operation({
  ...shared,
  id: 'listCheckpoints',
  path: '/time-stamps/checkpoints',
  summary: 'Stamped checkpoints of the ledger, the newest first',
  description: 'They are of the whole installation, public, and say nothing of tenants.',
  params: None,
  query: TimeStampsQuery,
  response: CheckpointsPage,
  errors: [],
});

export const readCheckpoint = operation({
  ...shared,
  id: 'readCheckpoint',
  path: '/time-stamps/checkpoints/{size}',
  summary: 'One stamped checkpoint, with links to its note and token',
  params: CheckpointParams,
  query: None,
  response: CheckpointResponse,
  errors: ['RESOURCE_NOT_FOUND'],
});

export const readTimeStampStatus = operation({
  ...shared,
  id: 'readTimeStampStatus',
  path: '/time-stamps/status',
  summary: 'What waits to be sealed and stamped, and the last stamp',
  params: None,
  query: None,
  response: TimeStampStatusResponse,
  errors: [],
});

export const TIME_STAMP_OPERATIONS = [listBatches, readBatch, listCheckpoints, readCheckpoint, readTimeStampStatus];
