import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '../../../schemas/crypto/digest.js';
import { VendorList } from '../../../schemas/iab/vendor-list.js';

/** A file of the operator's folder. */
export interface VendorListFile {
  /** The exact bytes of the file. */
  readonly bytes: Buffer;
  readonly list: VendorList;
}

/** Largest file in bytes: far above the global vendor list, which has about 1 MB. */
const MOST_BYTES = 10_000_000;
const MOST_FILES = 100;

/** Finds a vendor list by the SHA-256 (hex) of its file. @returns null if the folder has no such list */
export type FindVendorList = (sha256: string) => Promise<VendorListFile | null>;

/**
 * Finds vendor lists in a folder of the operator. Files that are added later are found without a restart. A file that
 * was found once stays in memory, so that the configuration that names it remains usable.
 * @param folder undefined if there is none
 */
export function vendorListsIn(folder: string | undefined): FindVendorList {
  if (folder === undefined) return async () => null;
  const found = new Map<string, VendorListFile>();
  /** Files that were read, by name, size and time of change. */
  const read = new Set<string>();
  const readNew = async (): Promise<void> => {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
    for (const name of names.slice(0, MOST_FILES)) {
      const path = join(folder, name);
      // An unreadable entry must not hide the lists after it, and reading a pipe would never end.
      const file = await stat(path).catch(() => null);
      if (file === null || !file.isFile() || file.size > MOST_BYTES) continue;
      const state = `${name} ${file.size} ${file.mtimeMs}`;
      if (read.has(state)) continue;
      const bytes = await readFile(path).catch(() => null);
      if (bytes === null) continue;
      read.add(state);
      const list = vendorListOf(bytes);
      if (list !== null) found.set(sha256Hex(bytes), { bytes, list });
    }
  };
  let reading: Promise<void> | null = null;
  return async (sha256) => {
    if (!found.has(sha256)) {
      reading ??= readNew().finally(() => {
        reading = null;
      });
      await reading;
    }
    return found.get(sha256) ?? null;
  };
}

/** @returns null if the bytes are not a vendor list */
function vendorListOf(bytes: Buffer): VendorList | null {
  try {
    const parsed = VendorList.safeParse(JSON.parse(bytes.toString('utf8')));
    return parsed.success ? parsed.data : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
