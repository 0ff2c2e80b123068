import { mkdir, open, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { LedgerKeysResponse } from '../../../schemas/api/checkpoints.js';
import { utf8 } from '../../../schemas/crypto/encoding.js';
import { STRUCTURE_FILES } from '../../../schemas/evidence/structure-file.js';
import { TILE_WIDTH, tileIn, tileNodes } from '../../../schemas/merkle/tiles.js';
import { readCosignatures, readLargestSize, readNote } from '../../pipeline/ledger/read-checkpoints.js';
import { readPublishedKeys } from '../../pipeline/ledger/read-ledger.js';
import { readSaltKey, streamKeysUnder } from '../../pipeline/ledger/stream-keys.js';
import type { Queryable } from '../../platform/database/pool.js';
import { syncFolder } from '../../platform/files.js';
import { readEntryBundle, readTile } from './read-tiles.js';
import { readHeader, type WriteBytes, writeStructure } from './write-structure.js';

/** Result of an export of the structure. */
export interface ExportedStructure {
  /** Size of the checkpoint up to which the folder has every file; 0: the ledger has none. */
  readonly size: number;
  /** Files that were written; the others were there. */
  readonly written: number;
}

/**
 * Writes the published structure into a folder, as any static host can serve it below `/checkpoints/`.
 * Files that never change are written once, so that an export that was interrupted goes on where it
 * ended. The checkpoint is written last: what it states is there.
 * @param onProgress gets the number of leaves of the ledger tree that are done, and of all
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

/** Files below a folder, each whole or absent. */
class Files {
  written = 0;

  constructor(private readonly folder: string) {}

  /** Writes a file that never changes, unless it is there. */
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
    // A name that a power failure loses is missing, and is written again.
    await rename(temporary, file);
    this.written += 1;
  }
}
