import { equalBytes, fromHex, toHex } from '../../../schemas/crypto/encoding.js';
import type { BatchSealedBody } from '../../../schemas/events/ledger.js';
import { hasTag } from '../../../schemas/events/sealed-event.js';
import { POLICY_STREAM } from '../../../schemas/events/streams.js';
import {
  BatchHeader,
  batchHeaderText,
  batchLeaf,
  isBatch,
  streamsRoot,
  tiledRuns,
} from '../../../schemas/evidence/batch-header.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { EventLog } from '../event-log/port.js';
import { batchTree } from './batch-nodes.js';
import { LedgerCorrupt } from './errors.js';
import { type LedgerState, readFrontier, readStreamHeads } from './ledger-state.js';
import { sortedTags, splitTags, tagsRoot } from './person-tags.js';
import { type Commitment, readCommitment } from './roll-up.js';
import { areBatchRuns, countOf, namedRuns, type Run } from './runs.js';
import { headOf, leafOf, type SealedLeaf, StreamHeads } from './sealed-leaf.js';

/** A fully checked Merkle batch or roll-up that is ready to be stored. */
export interface CheckedBatch {
  readonly header: BatchHeader;
  readonly headerText: string;
  /** None for a roll-up. */
  readonly leaves: readonly SealedLeaf[];
  /** Inner nodes of the tree over the leaves (`BatchTree`); empty for a roll-up. */
  readonly nodes: Uint8Array;
  readonly heads: StreamHeads;
}

/** What its sealer computed of a batch or roll-up; it need not be computed again. */
export interface KnownBatch {
  /** The leaves of the runs; none for a roll-up. */
  readonly leaves: readonly SealedLeaf[];
  /** What the batches that a roll-up covers add up to; null for a batch. */
  readonly covered: Commitment | null;
}

/**
 * Checks that a sealed batch or roll-up continues the tree and that its roots match the events in the
 * log.
 * @param known what was computed earlier; null: all is computed from the log and the stored leaves
 * @throws LedgerCorrupt, EventLogUnavailable, database errors
 */
export async function checkBatch(
  db: Queryable,
  eventLog: EventLog,
  state: LedgerState,
  body: BatchSealedBody,
  known: KnownBatch | null,
): Promise<CheckedBatch> {
  const revision = state.revision + 1;
  const header = parseHeader(revision, body.header);
  if (header.number !== state.size)
    throw new LedgerCorrupt(revision, `batch ${header.number} follows ${state.size - 1}`);
  if (state.sealedAt !== null && Date.parse(header.sealed_at) < state.sealedAt.getTime()) {
    throw new LedgerCorrupt(revision, 'it was sealed before the batch before it');
  }
  const own = body.runs.reduce(
    (sum, [stream, first, last]) => sum + (stream === POLICY_STREAM ? last - first + 1 : 0),
    0,
  );
  if (header.policies !== state.policies + own) throw new LedgerCorrupt(revision, 'its count of policies is wrong');
  if (!isBatch(header.level)) {
    const covered = known?.covered ?? (await readCommitment(db, header.number));
    checkRollUp(revision, header, body, covered);
    return { header, headerText: body.header, leaves: [], nodes: new Uint8Array(), heads: new StreamHeads() };
  }
  const checked = await checkedLeaves(db, eventLog, revision, header, body, known?.leaves ?? null);
  return { header, headerText: body.header, ...checked };
}

function checkRollUp(revision: number, header: BatchHeader, body: BatchSealedBody, covered: Commitment): void {
  if (body.runs.length > 0 || body.tags.length > 0) throw new LedgerCorrupt(revision, 'a roll-up has no leaves');
  if (
    header.count !== covered.count ||
    header.streams_count !== covered.streams_count ||
    header.streams_root !== covered.streams_root ||
    header.tags_count !== covered.tags_count ||
    header.tags_root !== covered.tags_root
  ) {
    throw new LedgerCorrupt(revision, 'the roll-up does not match the batches that it covers');
  }
}

async function checkedLeaves(
  db: Queryable,
  eventLog: EventLog,
  revision: number,
  header: BatchHeader,
  body: BatchSealedBody,
  known: readonly SealedLeaf[] | null,
): Promise<Pick<CheckedBatch, 'leaves' | 'nodes' | 'heads'>> {
  if (!areBatchRuns(body.runs)) throw new LedgerCorrupt(revision, 'the runs are empty, repeated or not in order');
  if (header.count !== countOf(body.runs)) throw new LedgerCorrupt(revision, 'count and runs differ');
  const runs = tiledRuns(namedRuns(body.runs));
  if (header.streams_count !== runs.length || toHex(streamsRoot(runs)) !== header.streams_root)
    throw new LedgerCorrupt(revision, 'streams_root and runs differ');
  const tags = splitTags(body.tags);
  if (tags === null || header.tags_count !== tags.length || rootOf(revision, tags) !== header.tags_root)
    throw new LedgerCorrupt(revision, 'tags_root and tags differ');
  const heads = new StreamHeads();
  for (const [stream, head] of await readStreamHeads(
    db,
    runs.map((run) => run.stream),
  ))
    heads.set(stream, head);
  const leaves = known ?? (await leavesFromLog(eventLog, revision, body.runs, tags, heads));
  for (const leaf of leaves) heads.set(leaf.stream, headOf(leaf));
  const root = header.root === null ? null : fromHex(header.root);
  const tree = batchTree(leaves.map((leaf) => leaf.hash));
  if (root === null || !equalBytes(tree.root, root)) {
    throw new LedgerCorrupt(revision, 'the root is not that of the events in the log');
  }
  return { leaves, nodes: tree.nodes, heads };
}

function rootOf(revision: number, tags: readonly Uint8Array[]): string {
  try {
    return tagsRoot(sortedTags(tags));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new LedgerCorrupt(revision, error.message);
  }
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
  tags: readonly Uint8Array[],
  sealed: StreamHeads,
): Promise<SealedLeaf[]> {
  const leaves: SealedLeaf[] = [];
  let nextTag = 0;
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
        const tag = hasTag(event.type) ? (tags[nextTag++] ?? null) : null;
        const leaf = leafOf(event, head, tag);
        leaves.push(leaf);
        head = headOf(leaf);
      }
      next = head.revision + 1;
    }
    heads.set(stream, head);
  }
  if (nextTag !== tags.length)
    throw new LedgerCorrupt(ledgerRevision, 'the number of tags is not that of the consents and erasures');
  return leaves;
}

/**
 * Stores a checked batch.
 * @param db in a transaction that locks the row of `sealer_state`
 */
export async function insertBatch(db: Queryable, batch: CheckedBatch): Promise<void> {
  const { header, headerText, leaves, nodes, heads } = batch;
  await db.query(
    'insert into batches (number, header, count, root, nodes, sealed_at) values ($1, $2, $3, $4, $5, $6)',
    [
      header.number,
      headerText,
      leaves.length,
      header.root === null ? null : fromHex(header.root),
      nodes,
      header.sealed_at,
    ],
  );
  await db.query(
    `insert into leaves (batch, index, stream, revision, event_id, hash, person_tag)
     select $1, place - 1, stream, revision, event_id, hash, person_tag
       from unnest($2::text[], $3::bigint[], $4::uuid[], $5::bytea[], $6::bytea[])
         with ordinality as l (stream, revision, event_id, hash, person_tag, place)`,
    [
      header.number,
      leaves.map((leaf) => leaf.stream),
      leaves.map((leaf) => leaf.revision),
      leaves.map((leaf) => leaf.eventId),
      leaves.map((leaf) => leaf.hash),
      leaves.map((leaf) => leaf.tag),
    ],
  );
  const sealed = heads.entries();
  await db.query(
    `insert into sealed_streams (stream, revision, leaf)
     select stream, revision, decode(leaf, 'hex') from unnest($1::text[], $2::bigint[], $3::text[]) as h (stream, revision, leaf)
     on conflict (stream) do update set revision = excluded.revision, leaf = excluded.leaf`,
    [sealed.map(([stream]) => stream), sealed.map(([, head]) => head.revision), sealed.map(([, head]) => head.leaf)],
  );
  const ledgerNodes = (await readFrontier(db, header.number)).append(batchLeaf(headerText));
  await db.query(
    `insert into ledger_nodes (level, index, hash) select * from unnest($1::smallint[], $2::bigint[], $3::bytea[])`,
    [
      ledgerNodes.map((node) => node.level),
      ledgerNodes.map((node) => node.index),
      ledgerNodes.map((node) => node.hash),
    ],
  );
}
