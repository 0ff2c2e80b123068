import { z } from 'zod';
import { concatBytes, fromHex, toHex } from '../../../schemas/crypto/encoding.js';
import { BatchHeader, keyedRunLeaf, type StreamKeyOf } from '../../../schemas/evidence/batch-header.js';
import { personTagLeaf } from '../../../schemas/evidence/person-tag.js';
import { firstCovered } from '../../../schemas/evidence/roll-ups.js';
import { runBytes } from '../../../schemas/evidence/structure-file.js';
import { Frontier } from '../../../schemas/merkle/tree.js';
import { TablesDiffer } from '../../pipeline/ledger/errors.js';
import { readRuns } from '../../pipeline/ledger/roll-up.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';

/** Tags that one fetch reads. */
const PAGE = 10_000;

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
  await eachPage(db, number, async (next) => {
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

const TagRows = z.array(z.object({ person_tag: z.instanceof(Uint8Array) }));

/** Reads the tags of a leaf in increasing order, page by page. */
async function eachPage(
  db: Queryable,
  number: number,
  accept: (tags: readonly Uint8Array[]) => Promise<void>,
): Promise<void> {
  await withTransaction(db, async (db) => {
    await db.query(
      `declare structure no scroll cursor for
         with own as materialized (
           select person_tag from sealed_events where batch between $1 and $2 and person_tag is not null)
         select person_tag from own order by person_tag`,
      [firstCovered(number), number],
    );
    for (;;) {
      const { rows } = await db.query(`fetch ${PAGE} from structure`);
      const tags = TagRows.parse(rows).map(({ person_tag: tag }) => tag);
      if (tags.length > 0) await accept(tags);
      if (tags.length < PAGE) break;
    }
    await db.query('close structure');
  });
}
