import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { sha256Hex } from '../../../../schemas/crypto/digest.js';
import {
  type ContradictionFile,
  MAX_ANNOUNCEMENTS,
  ProvedEntry,
  type ProvedEntryFile,
} from '../../../../schemas/evidence/contradiction.js';
import { Instant } from '../../../../schemas/evidence/primitives.js';
import { UsageError } from '../../cli/usage-error.js';
import { parseShape } from '../../files/parse.js';
import { englishText } from '../../findings/finding.js';
import { asciiJson } from '../../rendering/printable.js';
import { codeOf, createFile, readIfThere, replaceFile } from '../durable-file.js';

const Note = z.string().max(1024 * 1024);

export const WatchState = z.strictObject({
  v: z.literal(1),
  /** Note of the newest checkpoint, and when this monitor first saw it. */
  newest: z.strictObject({ note: Note, seen_at: Instant }),
  /**
   * Note of the newest checkpoint whose size is not a power of two: a consistency proof from it
   * shows the rewritten root, which one from a power of two does not.
   */
  anchor: Note.nullable(),
  /** Announcements of the ledger's keys that hold, oldest first. */
  announcements: z
    .array(z.custom<ProvedEntryFile>((value) => ProvedEntry.safeParse(value).success))
    .max(MAX_ANNOUNCEMENTS),
});
/** State that a monitor stores about a ledger. */
export type WatchState = z.infer<typeof WatchState>;

const fileOf = (folder: string): string => join(folder, 'watch.json');

/** @returns null before the first run @throws UsageError if the file is damaged */
export async function readWatchState(folder: string): Promise<WatchState | null> {
  await mkdir(folder, { recursive: true });
  const bytes = await readIfThere(fileOf(folder));
  if (bytes === null) return null;
  const parsed = parseShape(WatchState, bytes);
  if (!parsed.ok)
    throw new UsageError(`${fileOf(folder)} is damaged (${englishText(parsed.reason)}): restore the newest copy of it`);
  return parsed.value;
}

/** Resolves when the state is durable. */
export function writeWatchState(folder: string, state: WatchState): Promise<void> {
  return replaceFile(fileOf(folder), `${JSON.stringify(state)}\n`);
}

/** Writes the proof of a contradiction, unless the folder has it. @returns its path */
export async function writeContradiction(folder: string, contradiction: ContradictionFile): Promise<string> {
  const text = asciiJson(contradiction);
  const path = join(folder, `contradiction-${sha256Hex(text).slice(0, 16)}.json`);
  try {
    await createFile(path, text);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  return path;
}
