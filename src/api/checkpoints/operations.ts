import {
  CheckpointParams,
  CheckpointsQuery,
  CheckpointsResponse,
  ConsistencyParams,
  ConsistencyResponse,
  LedgerKeysResponse,
  TokenParams,
} from '../../../schemas/api/checkpoints.js';
import { NoBody, None } from '../../../schemas/api/panel/common.js';
import { EXAMPLE_VALUES } from '../server/example-values.js';
import { AnyQuery, defineOperation, OPEN, type Operation } from '../server/operation.js';

const shared = {
  method: 'get',
  tag: 'Ledger',
  access: OPEN,
  body: NoBody,
  status: 200,
  action: null,
} as const;
const PLAIN_TEXT = 'text/plain';
/** Media type of certificates in PEM (RFC 8555 §9.1). */
export const PEM = 'application/pem-certificate-chain';

export const listStampedCheckpoints = defineOperation({
  ...shared,
  id: 'listStampedCheckpoints',
  path: '/checkpoints',
  summary: 'List the stamped checkpoints, by size',
  description: 'Returns at most 1,000 checkpoints; the header `Link` with `rel="next"` leads to the next ones.',
  params: None,
  query: CheckpointsQuery,
  response: CheckpointsResponse,
  errors: [],
  example: { query: { after: '0' } },
});

export const listLedgerKeys = defineOperation({
  ...shared,
  id: 'listLedgerKeys',
  path: '/checkpoints/keys',
  summary: 'List the keys of the ledger',
  description: 'Each key after the first comes with the proof that the key before it announced it.',
  params: None,
  query: AnyQuery,
  response: LedgerKeysResponse,
  errors: [],
  example: {},
});

export const getLedgerKey = defineOperation({
  ...shared,
  id: 'getLedgerKey',
  path: '/checkpoints/ledger.vkey',
  summary: 'Get the ledger keys that are in force',
  description: 'Give it to verifiers in another way, too: a key from the service proves nothing against the service.',
  params: None,
  query: AnyQuery,
  response: None,
  download: {
    mediaType: PLAIN_TEXT,
    description: 'Two verifier-key lines (C2SP signed-note), of Ed25519 and of ML-DSA-44.',
  },
  errors: ['RESOURCE_NOT_FOUND'],
  example: {},
});

export const getTsaRoots = defineOperation({
  ...shared,
  id: 'getTsaRoots',
  path: '/checkpoints/tsa-roots.pem',
  summary: 'Get the root certificates of the time stamp authorities',
  description:
    'Those that this service trusts. Take them from the authorities, too: a certificate from the service proves nothing against the service.',
  params: None,
  query: AnyQuery,
  response: None,
  download: { mediaType: PEM, description: 'Certificates in PEM (RFC 7468), as `--tsa-ca` reads them.' },
  errors: ['RESOURCE_NOT_FOUND'],
  example: {},
});

const one = {
  ...shared,
  params: CheckpointParams,
  invalidParams: 'CHECKPOINT_NOT_FOUND',
  query: AnyQuery,
  response: None,
  errors: ['CHECKPOINT_NOT_FOUND'],
  example: { path: { size: EXAMPLE_VALUES.checkpointSize } },
} as const;

export const getCheckpointNote = defineOperation({
  ...one,
  id: 'getCheckpointNote',
  path: '/checkpoints/{size}/note',
  summary: 'Get the signed note of a checkpoint',
  description: 'The note has the size and the root hash of the ledger tree, signed by the ledger key.',
  download: { mediaType: PLAIN_TEXT, description: 'The exact text that was stamped (C2SP tlog-checkpoint).' },
});

export const getCheckpointToken = defineOperation({
  ...one,
  id: 'getCheckpointToken',
  path: '/checkpoints/{size}/tokens/{number}',
  summary: 'Get a time stamp of a checkpoint',
  description: 'Its message imprint is the hash of the signed note. `openssl ts -verify` checks it.',
  params: TokenParams,
  download: { mediaType: 'application/timestamp-reply', description: 'The response of the authority (RFC 3161).' },
  example: { path: { size: EXAMPLE_VALUES.checkpointSize, number: '1' } },
});

export const getCheckpointCosignatures = defineOperation({
  ...one,
  id: 'getCheckpointCosignatures',
  path: '/checkpoints/{size}/cosignatures',
  summary: 'Get the cosignatures of a checkpoint',
  description: 'Empty until a witness has cosigned the checkpoint. More lines may follow later.',
  download: {
    mediaType: PLAIN_TEXT,
    description: 'Signature lines of witnesses over the text of the note (C2SP tlog-cosignature).',
  },
});

export const getConsistencyProof = defineOperation({
  ...one,
  id: 'getConsistencyProof',
  path: '/checkpoints/{size}/consistency/{from}',
  summary: 'Prove that the ledger at one size extends the ledger at another',
  description: 'Both sizes are at most that of the newest stamped checkpoint (RFC 9162 §2.1.4).',
  params: ConsistencyParams,
  response: ConsistencyResponse,
  example: { path: { size: EXAMPLE_VALUES.checkpointSize, from: '1' } },
});

/**
 * The stamped checkpoints and the keys of the ledger, which are public: they say nothing about
 * tenants, sites or records.
 */
export const CHECKPOINT_OPERATIONS: readonly Operation[] = [
  listStampedCheckpoints,
  listLedgerKeys,
  getLedgerKey,
  getTsaRoots,
  getCheckpointNote,
  getCheckpointToken,
  getCheckpointCosignatures,
  getConsistencyProof,
];
