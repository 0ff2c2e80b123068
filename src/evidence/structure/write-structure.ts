import * as z from 'zod';
import { concatBytes, fromHex, toHex } from '../../../schemas/crypto/encoding.js';
import { BatchHeader, keyedRunLeaf, type StreamKeyOf } from '../../../schemas/evidence/batch-header.js';
import { personTagLeaf } from '../../../schemas/evidence/person-tag.js';
import { runBytes } from '../../../schemas/evidence/structure-file.js';
import { Frontier } from '../../../schemas/merkle/tree.js';
import { TablesDiffer } from '../../pipeline/ledger/errors.js';
import { eachTagPage, readRuns } from '../../pipeline/ledger/roll-up.js';
import type { Queryable } from '../../platform/database/pool.js';

/** Gets the next bytes of a file. The next ones are read when it resolves. */
export type WriteBytes = (bytes: Uint8Array) => Promise<void>;

const HeaderRows = z.array(z.object({ header: z.string() })).max(1);

/** Reads the header of a leaf of the ledger tree. @returns null if it is not stored */
export async function readHeader(db: Queryable, number: number): Promise<BatchHeader | null> {
  const { rows } = await db.query('select header from batches where number = $1', [number]);
  const [row] = HeaderRows.parse(rows);
  return row === undefined ? null : BatchHeader.parse(JSON.parse(row.header));
}

/**
 * Writes the structure file of a leaf: its runs, then its tags, in the order of their trees. The memory
 * holds the runs and one page of tags. The last page is written only if the header commits to all: a
 * file that a cache keeps for ever must not accuse the ledger for a row of a table.
 * @throws TablesDiffer if the tables contradict the header; errors of `write`, database errors
 */
export async function writeStructure(
  db: Queryable,
  header: BatchHeader,
  keyOf: StreamKeyOf,
  write: WriteBytes,
): Promise<void> {
  const { number } = header;
  const runs = (await readRuns(db, [number], keyOf)).get(number) ?? [];
  const streams = new Frontier();
  for (const run of runs) streams.append(keyedRunLeaf(run));
  let page = concatBytes(...runs.map((run) => runBytes({ ...run, key: fromHex(run.key) ?? new Uint8Array() })));
  const tags = new Frontier();
  // Before the tags are opened: a transaction must not wait for a client that takes many runs.
  if (header.tags_count > 0 && page.length > 0) {
    await write(page);
    page = new Uint8Array();
  }
  await eachTagPage(db, number, async (rows) => {
    const next = rows.map(({ person_tag: tag }) => tag);
    for (const tag of next) tags.append(personTagLeaf(tag));
    if (page.length > 0) await write(page);
    page = concatBytes(...next);
  });
  const isRight =
    streams.size === header.streams_count &&
    tags.size === header.tags_count &&
    toHex(streams.root()) === header.streams_root &&
    toHex(tags.root()) === header.tags_root;
  if (!isRight) throw new TablesDiffer('sealed_events', `batch ${number}`, 'the header commits to other runs or tags');
  if (page.length > 0) await write(page);
}
