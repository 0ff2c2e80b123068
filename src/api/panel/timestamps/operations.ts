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
  summary: 'List the sealed batches with entries of the tenant’s sites, newest first',
  description:
    'Batches without an entry of the tenant are omitted, because their number would reveal how much other tenants record. Every value shown is also in evidence packages of the tenant.',
  params: None,
  query: TimestampsQuery,
  response: BatchesPage,
  errors: [],
});

export const readBatch = operation({
  ...shared,
  id: 'readBatch',
  path: '/timestamps/batches/{number}',
  summary: 'Get a batch with entries of the tenant’s sites',
  params: BatchParams,
  query: None,
  response: BatchResponse,
  errors: ['RESOURCE_NOT_FOUND'],
});

export const listCheckpoints = operation({
  ...shared,
  id: 'listCheckpoints',
  path: '/timestamps/checkpoints',
  summary: 'List the stamped checkpoints of the ledger, newest first',
  description: 'Checkpoints are public, and those of the whole installation. They contain nothing about tenants.',
  params: None,
  query: TimestampsQuery,
  response: CheckpointsPage,
  errors: [],
});

export const readCheckpoint = operation({
  ...shared,
  id: 'readCheckpoint',
  path: '/timestamps/checkpoints/{size}',
  summary: 'Get a stamped checkpoint, with links to its note and token',
  params: CheckpointParams,
  query: None,
  response: CheckpointResponse,
  errors: ['RESOURCE_NOT_FOUND'],
});

export const readTimestampStatus = operation({
  ...shared,
  id: 'readTimestampStatus',
  path: '/timestamps/status',
  summary: 'Get the entries that are not sealed or stamped yet, and the last time stamp',
  params: None,
  query: None,
  response: TimestampStatusResponse,
  errors: [],
});

export const TIMESTAMP_OPERATIONS = [listBatches, readBatch, listCheckpoints, readCheckpoint, readTimestampStatus];
