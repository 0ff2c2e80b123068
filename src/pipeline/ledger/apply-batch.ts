import { equalBytes, fromHex, toHex } from '../../../schemas/crypto/encoding.js';
import type { BatchSealedBody } from '../../../schemas/events/ledger.js';
import { BatchHeader, batchHeaderText, batchLeaf, streamsRoot } from '../../../schemas/evidence/batch-header.js';
import { treeRoot } from '../../../schemas/merkle/tree.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { EventLog } from '../event-log/port.js';
import { LedgerCorrupt } from './errors.js';
import { type LedgerState, readFrontier, readStreamHeads } from './ledger-state.js';
import { countOf, mergeRuns, type Run } from './runs.js';
import { headOf, leafOf, type SealedLeaf, StreamHeads } from './sealed-leaf.js';

/** A fully checked Merkle batch that is ready to be stored. */
export interface CheckedBatch {
  readonly header: BatchHeader;
  readonly headerText: string;
  readonly leaves: readonly SealedLeaf[];
  readonly heads: StreamHeads;
}

/**
 * Checks that a sealed batch continues the tree and that its roots match the events in the log.
 * @param known leaves computed earlier from these runs; without them the leaves are computed from
 *   the log
 * @throws LedgerCorrupt, EventLogUnavailable, database errors
 */
export async function checkBatch(
  db: Queryable,
  eventLog: EventLog,
  state: LedgerState,
  body: BatchSealedBody,
  known: readonly SealedLeaf[] | null,
): Promise<CheckedBatch> {
  const revision = state.revision + 1;
  const header = parseHeader(revision, body.header);
  const merged = mergeRuns(body.runs);
  if (merged === null) throw new LedgerCorrupt(revision, 'the runs of a stream are not adjacent');
  if (header.number !== state.size)
    throw new LedgerCorrupt(revision, `batch ${header.number} follows ${state.size - 1}`);
  if (header.count !== countOf(body.runs)) throw new LedgerCorrupt(revision, 'count and runs differ');
  if (state.sealedAt !== null && Date.parse(header.sealed_at) < state.sealedAt.getTime()) {
    throw new LedgerCorrupt(revision, 'it was sealed before the batch before it');
  }
  if (toHex(streamsRoot(merged)) !== header.streams_root)
    throw new LedgerCorrupt(revision, 'streams_root and runs differ');
  const heads = new StreamHeads();
  for (const [stream, head] of await readStreamHeads(
    db,
    merged.map((run) => run.stream),
  ))
    heads.set(stream, head);
  const leaves = known ?? (await leavesFromLog(eventLog, revision, body.runs, heads));
  for (const leaf of leaves) heads.set(leaf.stream, headOf(leaf));
  const root = fromHex(header.root);
  if (root === null || !equalBytes(treeRoot(leaves.map((leaf) => leaf.hash)), root)) {
    throw new LedgerCorrupt(revision, 'the root is not that of the events in the log');
  }
  return { header, headerText: body.header, leaves, heads };
}

function parseHeader(revision: number, text: string): BatchHeader {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new LedgerCorrupt(revision, 'the header is not JSON');
  }
  const parsed = BatchHeader.safeParse(json);
  if (!parsed.success || batchHeaderText(parsed.data) !== text) {
    throw new LedgerCorrupt(revision, 'the header is not the canonical text of a batch header');
  }
  return parsed.data;
}

async function leavesFromLog(
  eventLog: EventLog,
  ledgerRevision: number,
  runs: readonly Run[],
  sealed: StreamHeads,
): Promise<SealedLeaf[]> {
  const leaves: SealedLeaf[] = [];
  const heads = new StreamHeads();
  for (const [stream, first, last] of runs) {
    let head = heads.has(stream) ? heads.get(stream) : sealed.get(stream);
    if (first !== head.revision + 1) {
      throw new LedgerCorrupt(ledgerRevision, `${stream} was sealed up to ${head.revision}, and goes on at ${first}`);
    }
    for (let next = first; next <= last; ) {
      const page = await eventLog.readStream(stream, next, last - next + 1);
      if (page.length === 0) throw new LedgerCorrupt(ledgerRevision, `${stream} has no revision ${next}`);
      for (const event of page) {
        const leaf = leafOf(event, head);
        leaves.push(leaf);
        head = headOf(leaf);
      }
      next = head.revision + 1;
    }
    heads.set(stream, head);
  }
  return leaves;
}

/**
 * Stores a checked batch.
 * @param db in a transaction that locks the row of `sealer_state`
 */
export async function insertBatch(db: Queryable, batch: CheckedBatch): Promise<void> {
  const { header, headerText, leaves, heads } = batch;
  await db.query('insert into batches (number, header, count, root, sealed_at) values ($1, $2, $3, $4, $5)', [
    header.number,
    headerText,
    header.count,
    fromHex(header.root),
    header.sealed_at,
  ]);
  await db.query(
    `insert into leaves (batch, index, stream, revision, event_id, hash)
     select $1, place - 1, stream, revision, event_id, hash
       from unnest($2::text[], $3::bigint[], $4::uuid[], $5::bytea[]) with ordinality as l (stream, revision, event_id, hash, place)`,
    [
      header.number,
      leaves.map((leaf) => leaf.stream),
      leaves.map((leaf) => leaf.revision),
      leaves.map((leaf) => leaf.eventId),
      leaves.map((leaf) => leaf.hash),
    ],
  );
  const sealed = heads.entries();
  await db.query(
    `insert into sealed_streams (stream, revision, leaf)
     select stream, revision, decode(leaf, 'hex') from unnest($1::text[], $2::bigint[], $3::text[]) as h (stream, revision, leaf)
     on conflict (stream) do update set revision = excluded.revision, leaf = excluded.leaf`,
    [sealed.map(([stream]) => stream), sealed.map(([, head]) => head.revision), sealed.map(([, head]) => head.leaf)],
  );
  const nodes = (await readFrontier(db, header.number)).append(batchLeaf(headerText));
  await db.query(
    `insert into ledger_nodes (level, index, hash) select * from unnest($1::smallint[], $2::bigint[], $3::bytea[])`,
    [nodes.map((node) => node.level), nodes.map((node) => node.index), nodes.map((node) => node.hash)],
  );
}
