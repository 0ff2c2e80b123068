import * as z from 'zod';
import { concatBytes, equalBytes, fromHex } from '../../../schemas/crypto/encoding.js';
import type { BatchSealedBody } from '../../../schemas/events/ledger.js';
import { hasTag, InvalidEventBody } from '../../../schemas/events/sealed-event.js';
import { type BatchHeader, batchLeaf, isBatch } from '../../../schemas/evidence/batch-header.js';
import { Frontier } from '../../../schemas/merkle/tree.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { EventLog } from '../event-log/port.js';
import { batchTree } from './batch-nodes.js';
import { type Run, splitTags } from './batch-rules.js';
import { LedgerCorrupt, TablesDiffer } from './errors.js';
import { type FollowedLedger, headOf, type LedgerTree, leafOf, type SealedLeaf, StreamHeads } from './ledger-state.js';
import { readAnnounced } from './policy.js';
import { type Commitment, readCommitment } from './roll-up.js';
import { readSealedHeads } from './sealed-heads.js';

/** A fully checked Merkle batch or roll-up that is ready to be stored. */
export interface CheckedBatch {
  readonly header: BatchHeader;
  readonly headerText: string;
  /** Leaves of the batch. Empty for a roll-up. */
  readonly leaves: readonly SealedLeaf[];
  /** Inner nodes of the tree over the leaves (`BatchTree`). Empty for a roll-up. */
  readonly nodes: Uint8Array;
  readonly heads: StreamHeads;
}

/** Parts of a batch or roll-up that its sealer has computed, so that they are not computed again. */
export interface KnownBatch {
  /** The leaves of the runs. Empty for a roll-up. */
  readonly leaves: readonly SealedLeaf[];
  /** Commitment to all batches that a roll-up covers, or null for a batch. */
  readonly covered: Commitment | null;
}

/**
 * Checks that the root of a sealed batch is that of the events in the log, and that a roll-up is the sum
 * of the batches that it covers.
 * @param state the state before the batch; the tables are at its revision
 * @param header the header that `batchHeaderOf` returns
 * @param known what was computed earlier, or null if everything is computed from the log
 * @throws LedgerCorrupt, TablesDiffer, EventLogUnavailable, database errors
 */
export async function checkBatch(
  db: Queryable,
  eventLog: EventLog,
  state: FollowedLedger,
  header: BatchHeader,
  body: BatchSealedBody,
  known: KnownBatch | null,
): Promise<CheckedBatch> {
  const revision = state.revision + 1;
  const whole = { header, headerText: body.header };
  if (!isBatch(header.level)) {
    assertCovers(revision, header, known?.covered ?? (await readCommitment(db, eventLog, state)));
    return { ...whole, leaves: [], nodes: new Uint8Array(), heads: new StreamHeads() };
  }
  const sealed = await readSealedHeads(
    db,
    state,
    body.runs.map(([stream]) => stream),
  );
  const heads = new StreamHeads();
  for (const [stream, head] of sealed) heads.set(stream, head);
  for (const [stream, first] of body.runs) {
    const { revision: last } = heads.get(stream);
    if (first !== last + 1)
      throw new LedgerCorrupt(revision, `${stream} was sealed up to ${last}, and goes on at ${first}`);
  }
  await assertAnnounced(eventLog, revision, body);
  const leaves = known?.leaves ?? (await leavesFromLog(eventLog, revision, body, heads));
  for (const leaf of leaves) heads.set(leaf.stream, headOf(leaf));
  const root = header.root === null ? null : fromHex(header.root);
  const tree = batchTree(leaves.map((leaf) => leaf.hash));
  if (root === null || !equalBytes(tree.root, root)) {
    throw new LedgerCorrupt(revision, 'the root is not that of the events in the log');
  }
  return { ...whole, leaves, nodes: tree.nodes, heads };
}

function assertCovers(revision: number, header: BatchHeader, covered: Commitment): void {
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

/**
 * Checks that the batch states the announcement that it seals, because only a sealed announcement changes the keys that
 * must sign.
 */
async function assertAnnounced(
  eventLog: EventLog,
  revision: number,
  { runs, announced }: BatchSealedBody,
): Promise<void> {
  const found = await readAnnounced(eventLog, runs).catch((error: unknown) => {
    if (error instanceof InvalidEventBody) throw new LedgerCorrupt(revision, error.message);
    throw error;
  });
  const isSame =
    found?.revision === announced?.revision &&
    found?.key === announced?.key &&
    found?.ml_dsa_key === announced?.ml_dsa_key;
  if (!isSame) throw new LedgerCorrupt(revision, 'it states other next keys than the event in the log');
}

async function leavesFromLog(
  eventLog: EventLog,
  ledgerRevision: number,
  { runs, tags }: BatchSealedBody,
  sealed: StreamHeads,
): Promise<SealedLeaf[]> {
  const leaves: SealedLeaf[] = [];
  const tagList = splitTags(tags) ?? [];
  let nextTag = 0;
  for (const [stream, first, last] of runs satisfies readonly Run[]) {
    let head = sealed.get(stream);
    for (let next = first; next <= last; ) {
      const page = await eventLog.readStream(stream, next, last - next + 1);
      if (page.length === 0) throw new LedgerCorrupt(ledgerRevision, `${stream} has no revision ${next}`);
      for (const event of page) {
        const tag = hasTag(event.type) ? (tagList[nextTag++] ?? null) : null;
        const leaf = leafOf(event, head, tag);
        leaves.push(leaf);
        head = headOf(leaf);
      }
      next = head.revision + 1;
    }
  }
  if (nextTag !== tagList.length)
    throw new LedgerCorrupt(ledgerRevision, 'the number of tags is not that of the consents and erasures');
  return leaves;
}

/**
 * Stores a checked batch.
 * @param db a handle in a transaction that locks the row of `sealer_state`
 * @param tree the ledger tree before the batch
 * @throws TablesDiffer if a batch before it is not stored
 */
export async function insertBatch(db: Queryable, batch: CheckedBatch, tree: LedgerTree): Promise<void> {
  const { header, headerText, leaves, nodes, heads } = batch;
  const { rowCount } = await db.query(
    `insert into batches (number, header, count, root, leaves, nodes, sealed_at)
     select $1::bigint, $2, $3, $4, $5, $6, $7 where $1 = (select coalesce(max(number) + 1, 0) from batches)`,
    [
      header.number,
      headerText,
      leaves.length,
      header.root === null ? null : fromHex(header.root),
      concatBytes(...leaves.map((leaf) => leaf.hash)),
      nodes,
      header.sealed_at,
    ],
  );
  if (rowCount !== 1) throw new TablesDiffer('batches', String(header.number), 'it is not the next one of the table');
  const numbers = await storeHeads(db, heads);
  await db.query(
    `insert into sealed_events (batch, revision, stream, index, event_id, person_tag)
     select $1, revision, stream, place - 1, event_id, person_tag
       from unnest($2::integer[], $3::bigint[], $4::uuid[], $5::bytea[])
         with ordinality as l (stream, revision, event_id, person_tag, place)`,
    [
      header.number,
      leaves.map((leaf) => numbers.get(leaf.stream)),
      leaves.map((leaf) => leaf.revision),
      leaves.map((leaf) => leaf.eventId),
      leaves.map((leaf) => leaf.tag),
    ],
  );
  const ledgerNodes = new Frontier(tree.size, tree.frontier).append(batchLeaf(headerText));
  await db.query(
    `insert into ledger_nodes (level, index, hash) select * from unnest($1::smallint[], $2::bigint[], $3::bytea[])`,
    [
      ledgerNodes.map((node) => node.level),
      ledgerNodes.map((node) => node.index),
      ledgerNodes.map((node) => node.hash),
    ],
  );
}

const NumberRows = z.array(z.object({ stream: z.string(), number: z.int() }));

/** @returns the number of each stream; streams that are new in the ledger get the next numbers */
async function storeHeads(db: Queryable, heads: StreamHeads): Promise<ReadonlyMap<string, number>> {
  const sealed = heads.entries();
  const { rows } = await db.query(
    `insert into sealed_streams (number, revision, stream, leaf)
     select coalesce(s.number, coalesce((select max(number) from sealed_streams), 0)
                                 + count(*) filter (where s.number is null) over (order by h.place)),
            h.revision, h.stream, decode(h.leaf, 'hex')
       from unnest($1::text[], $2::bigint[], $3::text[]) with ordinality as h (stream, revision, leaf, place)
       left join sealed_streams s on s.stream = h.stream
      order by h.place
     on conflict (stream) do update set revision = excluded.revision, leaf = excluded.leaf
     returning stream, number`,
    [sealed.map(([stream]) => stream), sealed.map(([, head]) => head.revision), sealed.map(([, head]) => head.leaf)],
  );
  return new Map(NumberRows.parse(rows).map(({ stream, number }) => [stream, number]));
}
