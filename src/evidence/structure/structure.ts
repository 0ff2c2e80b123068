import { mkdir, open, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import type { LedgerKeysResponse } from '../../../schemas/api/checkpoints.js';
import { concatBytes, fromHex, toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { BatchHeader, keyedRunLeaf, type StreamKeyOf } from '../../../schemas/evidence/batch-header.js';
import { personTagLeaf } from '../../../schemas/evidence/person-tag.js';
import { entryBundle, runBytes, STRUCTURE_FILES } from '../../../schemas/evidence/structure-file.js';
import { isTileOf, nodesOfTile, TILE_WIDTH, type TilePlace, tileIn, tileNodes } from '../../../schemas/merkle/tiles.js';
import { Frontier } from '../../../schemas/merkle/tree.js';
import { readTreeNodes } from '../../pipeline/ledger/batch-nodes.js';
import { TablesDiffer } from '../../pipeline/ledger/errors.js';
import { readCosignatures, readLargestSize, readNote } from '../../pipeline/ledger/read-checkpoints.js';
import { readPublishedKeys } from '../../pipeline/ledger/read-ledger.js';
import { eachTagPage, readRuns } from '../../pipeline/ledger/roll-up.js';
import { readSaltKey, streamKeysUnder } from '../../pipeline/ledger/stream-keys.js';
import type { Queryable } from '../../platform/database/pool.js';
import { syncFolder } from '../../platform/files.js';

/** Result of an export of the structure. */
export interface ExportedStructure {
  /** Size of the checkpoint up to which the folder has every file; 0 if the ledger has no checkpoint. */
  readonly size: number;
  /** Number of files that were written; the others existed. */
  readonly written: number;
}

/**
 * Writes the published structure into a folder that any static host can serve below `/checkpoints/`. Files that never
 * change are written once, so an interrupted export resumes where it ended. The checkpoint is written last, so
 * everything that it commits to is already there.
 * @param onProgress a function that is called with the number of finished leaves of the ledger tree and the total
 * @throws TablesDiffer, database and file-system errors
 */
export async function exportStructure(
  db: Queryable,
  folder: string,
  onProgress: (done: number, total: number) => void,
): Promise<ExportedStructure> {
  const size = await readLargestSize(db);
  const note = await readNote(db, size);
  const saltKey = await readSaltKey(db);
  if (note === null || saltKey === null) return { size: 0, written: 0 };
  const files = new Files(join(folder, 'checkpoints'));
  const keyOf = streamKeysUnder(saltKey);
  for (let number = 0; number < size; number += 1) {
    await files.add(STRUCTURE_FILES.structure(number), async (write) => {
      const header = await readHeader(db, number);
      if (header === null) throw new Error(`the header of batch ${number} is missing`);
      await writeStructure(db, header, keyOf, write);
    });
    onProgress(number + 1, size);
  }
  for (let index = 0; index * TILE_WIDTH < size; index += 1) {
    const place = tileIn(0, index, size);
    if (place !== null)
      await files.add(STRUCTURE_FILES.entries(place), (write) => written(write, readEntryBundle(db, place, size)));
  }
  for (let level = 0; tileNodes(level, size) > 0; level += 1)
    for (let index = 0; index * TILE_WIDTH < tileNodes(level, size); index += 1) {
      const place = tileIn(level, index, size);
      if (place !== null)
        await files.add(STRUCTURE_FILES.tile(level, place), (write) =>
          written(write, readTile(db, level, place, size)),
        );
    }
  const listed: LedgerKeysResponse = { data: { keys: [...(await readPublishedKeys(db))] } };
  await files.replace(STRUCTURE_FILES.keys, utf8(JSON.stringify(listed)));
  await files.replace(STRUCTURE_FILES.checkpoint, utf8(note + (await readCosignatures(db, size))));
  return { size, written: files.written };
}

async function written(write: WriteBytes, read: Promise<Uint8Array | null>): Promise<void> {
  const bytes = await read;
  if (bytes === null) throw new Error('a part of the ledger tree is missing');
  await write(bytes);
}

/** Files below a folder. Each is either complete or absent. */
class Files {
  written = 0;

  constructor(private readonly folder: string) {}

  /** Writes a file that never changes, unless the file exists. */
  async add(path: string, make: (write: WriteBytes) => Promise<void>): Promise<void> {
    const file = join(this.folder, path);
    if ((await stat(file).catch(() => null))?.isFile() !== true) await this.#write(file, make);
  }

  async replace(path: string, bytes: Uint8Array): Promise<void> {
    const file = join(this.folder, path);
    await this.#write(file, (write) => write(bytes));
    await syncFolder(dirname(file));
  }

  async #write(file: string, make: (write: WriteBytes) => Promise<void>): Promise<void> {
    await mkdir(dirname(file), { recursive: true });
    const temporary = `${file}.tmp`;
    const handle = await open(temporary, 'w', 0o644);
    try {
      await make(async (bytes) => {
        await handle.writeFile(bytes);
      });
      await handle.sync();
    } finally {
      await handle.close();
    }
    // If a power failure loses the name, the file is missing and will be written again.
    await rename(temporary, file);
    this.written += 1;
  }
}

/** Receives the next bytes of a file. The bytes after them are read once it resolves. */
export type WriteBytes = (bytes: Uint8Array) => Promise<void>;

const HeaderRows = z.array(z.object({ header: z.string() })).max(1);

/** Reads the header of a leaf of the ledger tree. @returns null if it is not stored */
export async function readHeader(db: Queryable, number: number): Promise<BatchHeader | null> {
  const { rows } = await db.query('select header from batches where number = $1', [number]);
  const [row] = HeaderRows.parse(rows);
  return row === undefined ? null : BatchHeader.parse(JSON.parse(row.header));
}

/**
 * Writes the structure file of a leaf: its runs, then its tags, in the order of their trees. The runs and one page of
 * tags are in memory. The last page is written only if the header commits to everything: caches keep the file forever,
 * and it must not incriminate the ledger because of one damaged row.
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
  // This comes before the tags are read, because a transaction must not wait for a client that is still receiving runs.
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

/**
 * Reads a tile of the ledger tree (c2sp.org/tlog-tiles).
 * @param level level of the tile, from 0
 * @param size size of the tree that is published
 * @returns its hashes, 32 bytes each, or null if a tree of this size does not have it
 * @throws Error if a node is not stored
 */
export async function readTile(
  db: Queryable,
  level: number,
  place: TilePlace,
  size: number,
): Promise<Uint8Array | null> {
  if (!isTileOf(level, place, size)) return null;
  const nodes = nodesOfTile(level, place);
  const find = await readTreeNodes(db, nodes);
  return concatBytes(
    ...nodes.map((node) => {
      const hash = find(node);
      if (hash === undefined) throw new Error('a node of the ledger tree is missing');
      return hash;
    }),
  );
}

const BundleRows = z.array(z.object({ header: z.string() }));

/**
 * Reads a bundle of entries: the texts of headers.
 * @returns null if a tree of this size does not have it
 * @throws Error if a header is not stored
 */
export async function readEntryBundle(db: Queryable, place: TilePlace, size: number): Promise<Uint8Array | null> {
  if (!isTileOf(0, place, size)) return null;
  const first = place.index * TILE_WIDTH;
  const { rows } = await db.query(
    'select header from batches where number >= $1 and number < $2 order by number limit $3',
    [first, first + place.width, TILE_WIDTH],
  );
  const headers = BundleRows.parse(rows);
  if (headers.length !== place.width) throw new Error('the header of a batch is missing');
  return entryBundle(headers.map(({ header }) => utf8(header)));
}
