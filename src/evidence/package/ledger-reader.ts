import * as z from 'zod';
import { equalBytes, fromHex, toHex } from '../../../schemas/crypto/encoding.js';
import { parseCheckpoint } from '../../../schemas/evidence/checkpoint.js';
import { parseNote } from '../../../schemas/evidence/signed-note.js';
import { HASH_LENGTH } from '../../../schemas/merkle/hashing.js';
import { hashesOfRanges, type LeafRange, nodesOfRanges } from '../../../schemas/merkle/proofs.js';
import { foldFrontier, frontierNodes, type TreeNode } from '../../../schemas/merkle/tree.js';
import { DEVELOPMENT_MARK } from '../../../schemas/rfc3161/development-mark.js';
import { readBatchLeaves as readHashes, readTreeNodes } from '../../pipeline/ledger/batch-nodes.js';
import type { Queryable } from '../../platform/database/pool.js';
import { lastSealed } from '../../platform/database/shared-statements.js';
import { differ } from './errors.js';

/** A column of `jsonColumns`. The elements are checked without a call of the schema for each. */
const numbers = column((value): value is number => Number.isSafeInteger(value));
export const texts = column((value): value is string => typeof value === 'string');
export const textsOrNulls = column((value): value is string | null => value === null || typeof value === 'string');

function column<T>(isElement: (value: unknown) => value is T) {
  const isColumn = (value: unknown): value is T[] => Array.isArray(value) && value.every(isElement);
  return z.custom<T[]>(isColumn, 'must be a column of the expected type');
}

/**
 * Returns the columns of a statement that reads all rows as one, each column as a JSON array in the
 * order of the rows.
 * @param columns SQL expressions by name
 * @param condition a condition on the rows of these columns
 */
export function jsonColumns(columns: Readonly<Record<string, string>>, condition = 'true'): string {
  return Object.entries(columns)
    .map(([name, expression]) => `coalesce(json_agg(${expression}) filter (where ${condition}), '[]') as ${name}`)
    .join(', ');
}

/** An element of a column. @throws RangeError if the column is shorter */
export function at<T>(column: readonly T[], index: number): T {
  const value = column[index];
  if (value === undefined) throw new RangeError(`the column has no row ${index}`);
  return value;
}

const bytes = z.instanceof(Uint8Array);
/** Number of rows that one statement reads. */
const PAGE = 10_000;

/** The checkpoint that a package shows. */
export interface ExportCheckpoint {
  readonly size: number;
  /** Root of the ledger tree of that size, 32 bytes. */
  readonly root: Uint8Array;
}

/**
 * Reads the smallest stamped checkpoint that covers a batch.
 * @param batch number of the batch
 * @returns null if no stamp covers it yet
 * @throws as `newestCheckpoint`
 */
export function firstCheckpointOver(db: Queryable, batch: number): Promise<ExportCheckpoint | null> {
  return readCheckpoint(db, 'select size, note from checkpoints where size > $1 order by size limit 1', [batch]);
}

/**
 * Reads the newest stamped checkpoint.
 * @returns null if nothing is stamped yet
 * @throws ExportFailed `log-and-ledger-differ` if the tree's nodes do not lead to its root
 */
export function newestCheckpoint(db: Queryable): Promise<ExportCheckpoint | null> {
  return readCheckpoint(db, 'select size, note from checkpoints order by size desc limit 1', []);
}

async function readCheckpoint(
  db: Queryable,
  query: string,
  values: readonly number[],
): Promise<ExportCheckpoint | null> {
  const { rows } = await db.query(query, [...values]);
  const [row] = z.array(z.object({ size: z.int(), note: z.string() })).parse(rows);
  if (row === undefined) return null;
  const note = parseNote(row.note);
  const checkpoint = note === null ? null : parseCheckpoint(note.text);
  if (checkpoint === null || checkpoint.size !== row.size) differ(`the note of checkpoint ${row.size} is malformed`);
  const nodes = frontierNodes(row.size);
  const node = await readNodes(db, nodes);
  if (!equalBytes(foldFrontier(nodes.map(node)), checkpoint.root)) {
    differ(`the nodes of the ledger tree do not lead to the root of checkpoint ${row.size}`);
  }
  return { size: row.size, root: checkpoint.root };
}

/**
 * Reads nodes of the ledger tree.
 * @returns a look-up that throws ExportFailed `log-and-ledger-differ` for a missing node
 */
export async function readNodes(db: Queryable, wanted: readonly TreeNode[]): Promise<(node: TreeNode) => Uint8Array> {
  const find = await readTreeNodes(db, wanted);
  return (node) => find(node) ?? differ(`node ${node.index} of level ${node.level} of the ledger tree is missing`);
}

/**
 * Reads proofs in the ledger tree.
 * @param proofs the ranges of each proof
 * @returns hashes of each proof, lower-case hex
 */
export async function readProofs(
  db: Queryable,
  proofs: readonly (readonly LeafRange[])[],
): Promise<readonly (readonly string[])[]> {
  const node = await readNodes(db, proofs.flatMap(nodesOfRanges));
  return proofs.map((ranges) => hashesOfRanges(ranges, node).map(toHex));
}

/** Position of an event in the ledger. */
export interface LeafRow {
  readonly revision: number;
  readonly batch: number;
  readonly index: number;
  readonly eventId: string;
  /** Leaf hash in hex. */
  readonly hash: string;
  /** Tag of a consent or an erasure in hex, or null for other events. */
  readonly personTag: string | null;
}

/**
 * The rows of a Merkle batch in one row, as JSON arrays. An export reads a million leaves, and one row per leaf, with
 * binary values, costs the client ten times as much. The hashes are cut out of the concatenated hashes of the batch.
 */
const LeavesOfBatch = z.array(
  z.object({
    batch: z.int(),
    start: z.int(),
    hashes: z.string(),
    revisions: numbers,
    indexes: numbers,
    event_ids: texts,
    person_tags: textsOrNulls,
  }),
);
const HASH_DIGITS = 2 * HASH_LENGTH;

/** Reads the sealed leaves of a run of revisions, both ends inclusive. */
export async function readLeaves(
  db: Queryable,
  stream: string,
  first: number,
  last: number,
): Promise<readonly LeafRow[]> {
  const { rows } = await db.query(
    `select l.*, encode(coalesce(
              substring(b.leaves from l.start * ${HASH_LENGTH} + 1 for (l.until - l.start + 1) * ${HASH_LENGTH}), ''), 'hex') as hashes
       from (select e.batch, min(e.index) as start, max(e.index) as until, ${jsonColumns({
         revisions: 'e.revision',
         indexes: 'e.index',
         event_ids: 'e.event_id',
         person_tags: `encode(e.person_tag, 'hex')`,
       })}
               from sealed_streams s
               join sealed_events e on e.stream = s.number
              where s.stream = $1 and e.revision between $2 and $3 group by e.batch) l
       left join batches b on b.number = l.batch
      order by l.batch`,
    [stream, first, last],
  );
  const leaves = LeavesOfBatch.parse(rows).flatMap(({ batch, start, hashes, ...columns }) =>
    columns.revisions.map((revision, i) => {
      const index = at(columns.indexes, i);
      const place = (index - start) * HASH_DIGITS;
      return {
        revision,
        batch,
        index,
        eventId: at(columns.event_ids, i),
        hash: hashes.slice(place, place + HASH_DIGITS),
        personTag: at(columns.person_tags, i),
      };
    }),
  );
  return leaves.sort((a, b) => a.revision - b.revision);
}

/** A leaf of a batch. */
export interface BatchLeaf {
  /** Leaf hash, 32 bytes. */
  readonly hash: Uint8Array;
  /** Tag of a consent or an erasure, 32 bytes, or null for other events. */
  readonly tag: Uint8Array | null;
}

/** Reads the leaves of a Merkle batch in order. @throws ExportFailed `log-and-ledger-differ` if any is missing */
export async function readBatchLeaves(db: Queryable, batch: number): Promise<readonly BatchLeaf[]> {
  const hashes = (await readHashes(db, batch)) ?? differ(`the leaves of batch ${batch} are not whole`);
  const { rows } = await db.query('select index, person_tag as tag from sealed_events where batch = $1', [batch]);
  const tags = new Map(
    z
      .array(z.object({ index: z.int(), tag: bytes.nullable() }))
      .parse(rows)
      .map(({ index, tag }) => [index, tag]),
  );
  return hashes.map((hash, index) => ({ hash, tag: tags.get(index) ?? null }));
}

/** The last revision of a stream in the batches below `size`, or -1 if there is none. */
export async function lastRevisionBelow(db: Queryable, stream: string, size: number): Promise<number> {
  const { rows } = await db.query(lastSealed('$1', '$2'), [stream, size]);
  return z.array(z.object({ revision: z.int() })).parse(rows)[0]?.revision ?? -1;
}

/**
 * The revisions, by event id, of those events that are in this stream and in a batch below `size`.
 */
export async function revisionsOf(
  db: Queryable,
  stream: string,
  eventIds: readonly string[],
  size: number,
): Promise<ReadonlyMap<string, number>> {
  if (eventIds.length === 0) return new Map();
  const { rows } = await db.query(
    'select event_id, revision from leaves where event_id = any($1::uuid[]) and stream = $2 and batch < $3',
    [eventIds, stream, size],
  );
  return new Map(
    z
      .array(z.object({ event_id: z.string(), revision: z.int() }))
      .parse(rows)
      .map((row) => [row.event_id, row.revision]),
  );
}

/** Reads the sizes up to `size` that have a stamped checkpoint, sorted. */
export async function readStampedSizes(db: Queryable, size: number): Promise<readonly number[]> {
  const sizes: number[] = [];
  for (let after = 0; ; ) {
    const { rows } = await db.query(
      'select size from checkpoints where size > $1 and size <= $2 order by size limit $3',
      [after, size, PAGE],
    );
    const page = z.array(z.object({ size: z.int() })).parse(rows);
    for (const row of page) sizes.push(row.size);
    const last = page.at(-1);
    if (last === undefined) return sizes;
    after = last.size;
  }
}

const BatchOfRevision = z.array(z.object({ batch: z.int() })).max(1);

/** Number of the batch of an event. @throws ExportFailed `log-and-ledger-differ` if it is in none */
export async function batchOf(db: Queryable, stream: string, revision: number): Promise<number> {
  const { rows } = await db.query({
    name: 'batch_of_revision',
    text: 'select batch from leaves where stream = $1 and revision = $2',
    values: [stream, revision],
  });
  return BatchOfRevision.parse(rows)[0]?.batch ?? differ(`revision ${revision} of ${stream} is not sealed`);
}

/** A stored batch. */
export interface BatchRow {
  readonly number: number;
  /** JCS text (RFC 8785). */
  readonly header: string;
}

export async function readBatches(db: Queryable, numbers: readonly number[]): Promise<readonly BatchRow[]> {
  const { rows } = await db.query(
    'select number, header from batches where number = any($1::bigint[]) order by number',
    [numbers],
  );
  const found = z.array(z.object({ number: z.int(), header: z.string() })).parse(rows);
  if (found.length !== numbers.length) differ('a batch that leaves name is missing');
  return found;
}

/**
 * Whether a development authority issued any time stamp. The certificates of such an authority
 * contain a mark.
 */
export async function isDevelopmentLedger(db: Queryable): Promise<boolean> {
  const { rows } = await db.query(
    `select exists (select from kept_evidence
                     where kind = 'certificate' and position(convert_to($1, 'UTF8') in bytes) > 0) as development`,
    [DEVELOPMENT_MARK],
  );
  return z.tuple([z.object({ development: z.boolean() })]).parse(rows)[0].development;
}

/** Parses 32 bytes of hex that this service wrote. @throws ExportFailed `log-and-ledger-differ` */
export function hashFromHex(text: string): Uint8Array {
  return fromHex(text) ?? differ('a hash in the tables is malformed');
}
