import type { FastifyInstance } from 'fastify';
import {
  CheckpointParams,
  CheckpointsQuery,
  CheckpointsResponse,
  ConsistencyParams,
  ConsistencyResponse,
  LedgerKeysResponse,
  MAX_CHECKPOINTS,
  TokenParams,
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
import type { FairScheduler } from '../guards/fair-scheduler.js';
import { EXAMPLE_VALUES } from '../server/example-values.js';
import { sendPage, wantsPage } from '../server/missing-page.js';
import { pageOf } from '../server/page.js';
import { routesWith } from '../server/route.js';
import { FOR_MINUTES, type PublicDocument, publicDocument } from '../server/send-document.js';
import { FOREVER, SHORTLY, serveDocuments } from './serve-documents.js';

interface CheckpointDeps {
  readonly db: Queryable;
  /** Reads the root certificates in PEM, or null if this process does not have them. */
  readonly readTsaRoots: () => Promise<string | null>;
}

const route = routesWith<CheckpointDeps>();

const shared = { auth: 'public', tag: 'Ledger' } as const;
const PLAIN_TEXT = 'text/plain';
/** Media type of certificates in PEM (RFC 8555 §9.1). */
const PEM = 'application/pem-certificate-chain';

/** What the operations on one checkpoint share. */
const one = {
  ...shared,
  params: CheckpointParams,
  invalidParams: 'CHECKPOINT_NOT_FOUND',
  errors: ['CHECKPOINT_NOT_FOUND'],
  example: { path: { size: EXAMPLE_VALUES.checkpointSize } },
} as const;

/**
 * The stamped checkpoints and the keys of the ledger, which are public: they say nothing about
 * tenants, sites or records.
 */
export const CHECKPOINT_OPERATIONS = [
  route({
    ...shared,
    id: 'listStampedCheckpoints',
    path: '/checkpoints',
    summary: 'List the stamped checkpoints, by size',
    description: 'Returns at most 1,000 checkpoints; the header `Link` with `rel="next"` leads to the next ones.',
    query: CheckpointsQuery,
    response: CheckpointsResponse,
    example: { query: { after: '0' } },
    handle: async ({ query: { after = 0 } }, { db }) => {
      const keys = (await readLedgerKeys(db)).flatMap((one) => [one.key, one.ml_dsa_key]);
      const checkpoints = await listCheckpoints(db, after);
      const last = checkpoints.length < MAX_CHECKPOINTS ? undefined : checkpoints.at(-1);
      const answer: CheckpointsResponse = { data: { keys, checkpoints } };
      return json(answer, SHORTLY, last && [`</checkpoints/?after=${last.size}>; rel="next"`]);
    },
  }),
  route({
    ...shared,
    id: 'listLedgerKeys',
    path: '/checkpoints/keys',
    summary: 'List the keys of the ledger',
    description: 'Each key after the first comes with the proof that the key before it announced it.',
    response: LedgerKeysResponse,
    handle: async (_call, { db }) => json({ data: { keys: await readPublishedKeys(db) } }, FOR_MINUTES),
  }),
  route({
    ...shared,
    id: 'getLedgerKey',
    path: '/checkpoints/ledger.vkey',
    summary: 'Get the ledger keys that are in force',
    description: 'Give it to verifiers in another way, too: a key from the service proves nothing against the service.',
    download: {
      mediaType: PLAIN_TEXT,
      description: 'Two verifier-key lines (C2SP signed-note), of Ed25519 and of ML-DSA-44.',
    },
    errors: ['RESOURCE_NOT_FOUND'],
    handle: async (_call, { db }) => {
      const inForce = (await readLedgerKeys(db)).at(-1);
      if (inForce === undefined) throw new ApiError('RESOURCE_NOT_FOUND', 'The ledger has not published a key yet.');
      return text(`${inForce.key}\n${inForce.ml_dsa_key}\n`, FOR_MINUTES);
    },
  }),
  route({
    ...shared,
    id: 'getTsaRoots',
    path: '/checkpoints/tsa-roots.pem',
    summary: 'Get the root certificates of the time stamp authorities',
    description:
      'Those that this service trusts. Take them from the authorities, too: a certificate from the service proves nothing against the service.',
    download: { mediaType: PEM, description: 'Certificates in PEM (RFC 7468), as `--tsa-ca` reads them.' },
    errors: ['RESOURCE_NOT_FOUND'],
    handle: async (_call, { readTsaRoots }) => {
      const roots = await readTsaRoots();
      if (roots === null)
        throw new ApiError(
          'RESOURCE_NOT_FOUND',
          'This process does not have the root certificates. Get them from the time stamp authorities.',
        );
      return publicDocument({ contentType: PEM, body: roots, cacheControl: FOR_MINUTES });
    },
  }),
  route({
    ...one,
    id: 'getCheckpointNote',
    path: '/checkpoints/{size}/note',
    summary: 'Get the signed note of a checkpoint',
    description: 'The note has the size and the root hash of the ledger tree, signed by the ledger key.',
    download: { mediaType: PLAIN_TEXT, description: 'The exact text that was stamped (C2SP tlog-checkpoint).' },
    handle: async ({ params: { size } }, { db }) => text(existing(await readNote(db, size)), FOREVER),
  }),
  route({
    ...one,
    id: 'getCheckpointToken',
    path: '/checkpoints/{size}/tokens/{number}',
    summary: 'Get a time stamp of a checkpoint',
    description: 'Its message imprint is the hash of the signed note. `openssl ts -verify` checks it.',
    params: TokenParams,
    download: { mediaType: 'application/timestamp-reply', description: 'The response of the authority (RFC 3161).' },
    example: { path: { size: EXAMPLE_VALUES.checkpointSize, number: '1' } },
    handle: async ({ params: { size, number } }, { db }) => {
      const body = existing(await readToken(db, size, number));
      return publicDocument({ contentType: 'application/timestamp-reply', body, cacheControl: FOREVER });
    },
  }),
  route({
    ...one,
    id: 'getCheckpointCosignatures',
    path: '/checkpoints/{size}/cosignatures',
    summary: 'Get the cosignatures of a checkpoint',
    description: 'Empty until a witness has cosigned the checkpoint. More lines may follow later.',
    download: {
      mediaType: PLAIN_TEXT,
      description: 'Signature lines of witnesses over the text of the note (C2SP tlog-cosignature).',
    },
    handle: async ({ params: { size } }, { db }) => {
      existing(await readNote(db, size));
      return text(await readCosignatures(db, size), SHORTLY);
    },
  }),
  route({
    ...one,
    id: 'getConsistencyProof',
    path: '/checkpoints/{size}/consistency/{from}',
    summary: 'Prove that the ledger at one size extends the ledger at another',
    description: 'Both sizes are at most that of the newest stamped checkpoint (RFC 9162 §2.1.4).',
    params: ConsistencyParams,
    response: ConsistencyResponse,
    example: { path: { size: EXAMPLE_VALUES.checkpointSize, from: '1' } },
    handle: async ({ params: { size, from } }, { db }) => {
      if (from >= size || size > (await readLargestSize(db))) throw new ApiError('CHECKPOINT_NOT_FOUND');
      const hashes = await readTreeProof(db, consistencyRanges(from, size));
      if (hashes === null) throw new Error('a node of the ledger tree is missing');
      const answer: ConsistencyResponse = { data: { from, size, hashes: hashes.map(toHex) } };
      return json(answer, FOREVER);
    },
  }),
];

/**
 * Registers the stamped checkpoints, the keys of the ledger and the roots of its time stamps. Any
 * cache may store the responses.
 * @param readTsaRoots reads the root certificates in PEM, or null if this process does not have them
 * @param turns schedules the requests by address
 */
export function checkpointRoutes(
  scope: FastifyInstance,
  db: Queryable,
  readTsaRoots: () => Promise<string | null>,
  turns: FairScheduler,
): void {
  const [list] = serveDocuments(scope, CHECKPOINT_OPERATIONS, { db, readTsaRoots }, turns);
  if (list === undefined) return;
  // The base URI of the ledger, as the API catalog names it. People get the same list behind a sentence.
  scope.get('/checkpoints/', (request, reply) =>
    wantsPage(request) ? sendPage(reply, CHECKPOINTS_PAGE) : list(request, reply.header('vary', 'Accept')),
  );
}

const CHECKPOINTS_PAGE = pageOf({
  title: 'Checkpoints – Consent Ledger',
  main: `<h1>Checkpoints of the ledger</h1>
<p class="lead">Each checkpoint fixes every record before it, and carries time stamps of independent authorities. Programs read the list as JSON.</p>
<p><a class="button" href="/checkpoints">The list of checkpoints</a><a class="button" href="/checkpoints/keys">The keys of the ledger</a><a class="button" href="/">Home page</a></p>`,
});

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
