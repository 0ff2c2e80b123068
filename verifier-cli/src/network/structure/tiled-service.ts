import { LedgerKeysResponse } from '../../../../schemas/api/checkpoints.js';
import { decodeUtf8 } from '../../../../schemas/crypto/encoding.js';
import { parseCheckpoint } from '../../../../schemas/evidence/checkpoint.js';
import { parseNote } from '../../../../schemas/evidence/signed-note.js';
import { STRUCTURE_FILES } from '../../../../schemas/evidence/structure-file.js';
import { TILE_WIDTH } from '../../../../schemas/merkle/tiles.js';
import { readHeaderOf } from '../../compare/header-problem.js';
import { parseShape } from '../../files/parse.js';
import { Unreachable } from '../bounded-fetch.js';
import { announcementsIn, type LedgerService } from '../service.js';
import { readWhole, type StructureSource } from './source.js';
import { TiledLog, Withheld } from './tiled-log.js';

const MAX_NOTE_BYTES = 256 * 1024;
const MAX_KEYS_BYTES = 4 * 1024 * 1024;

/**
 * Provides the public routes that a monitor reads from the files of a tiled log. The time of a checkpoint is when its
 * last leaf was sealed, so a copy that nobody updates is recognised as old, whenever it was made or first seen. A
 * service seals at least every 12 hours, even without new events.
 */
export function tiledService(source: StructureSource): LedgerService {
  let newest: { readonly size: number; readonly note: Uint8Array } | null = null;
  const read = async (path: string, maxBytes: number): Promise<Uint8Array> => {
    const bytes = await readWhole(source, path, maxBytes);
    if (bytes === null) throw new Unreachable(`${source.name}/${path} is not published`);
    return bytes;
  };
  return {
    async newest(after) {
      const note = await read(STRUCTURE_FILES.checkpoint, MAX_NOTE_BYTES);
      const signed = parseNote(decodeUtf8(note) ?? '');
      const checkpoint = signed === null ? null : parseCheckpoint(signed.text);
      if (checkpoint === null)
        throw new Unreachable(`${source.name}/${STRUCTURE_FILES.checkpoint} is not a checkpoint`);
      newest = { size: checkpoint.size, note };
      const { size } = checkpoint;
      return size > after ? { size, time: await sealedAt(source, size) } : null;
    },
    async note(size) {
      if (newest?.size !== size) throw new Unreachable(`${source.name} publishes no checkpoint of size ${size}`);
      return newest.note;
    },
    async consistency(from, size) {
      try {
        return [{ from, to: size, path: [...(await new TiledLog(source, size).consistency(from))] }];
      } catch (error) {
        if (error instanceof Withheld) return [];
        throw error;
      }
    },
    async announcements() {
      const parsed = parseShape(LedgerKeysResponse, await read(STRUCTURE_FILES.keys, MAX_KEYS_BYTES));
      if (!parsed.ok) throw new Unreachable(`${source.name}/${STRUCTURE_FILES.keys} is not a list of keys`);
      return announcementsIn(parsed.value);
    },
  };
}

/**
 * When the last leaf of a tree was sealed, as its header states, or null if it is not published, or of a newer version.
 */
async function sealedAt(source: StructureSource, size: number): Promise<Date | null> {
  try {
    const text = (await new TiledLog(source, size).entries(Math.floor((size - 1) / TILE_WIDTH))).at(-1);
    const header = text === undefined ? null : readHeaderOf(text, size - 1).header;
    return header === null ? null : new Date(header.sealed_at);
  } catch (error) {
    // The audit reports what is withheld.
    if (error instanceof Withheld) return null;
    throw error;
  }
}
