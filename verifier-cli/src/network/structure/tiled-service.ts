import { LedgerKeysResponse } from '../../../../schemas/api/checkpoints.js';
import { decodeUtf8 } from '../../../../schemas/crypto/encoding.js';
import { parseCheckpoint } from '../../../../schemas/evidence/checkpoint.js';
import { parseNote } from '../../../../schemas/evidence/signed-note.js';
import { STRUCTURE_FILES } from '../../../../schemas/evidence/structure-file.js';
import { parseShape } from '../../files/parse.js';
import { Unreachable } from '../bounded-fetch.js';
import { announcementsIn, type LedgerService } from '../watch/service.js';
import { readWhole, type StructureSource } from './source.js';
import { TiledLog, Withheld } from './tiled-log.js';

const MAX_NOTE_BYTES = 256 * 1024;
const MAX_KEYS_BYTES = 4 * 1024 * 1024;

/**
 * The public routes that a monitor reads, from the files of a tiled log alone. The files state no time
 * of a checkpoint: it counts from when it was first seen.
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
      return checkpoint.size > after ? { size: checkpoint.size, time: new Date() } : null;
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
