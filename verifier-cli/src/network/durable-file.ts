import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces a file so that it survives a power failure as soon as this resolves: it writes and syncs
 * a temporary file, renames it, and syncs the folder. A reader sees the old content or the new one.
 */
export async function replaceFile(path: string, content: string): Promise<void> {
  const temporary = `${path}.tmp`;
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncFolder(dirname(path));
}

/**
 * Creates a file that must not exist, and makes it durable.
 * @throws the error of the file system, with the code `EEXIST` if the file exists
 */
export async function createFile(path: string, content: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await syncFolder(dirname(path));
}

/**
 * Reads a file, or null if it does not exist. Other errors are thrown, because an unreadable state must not be treated
 * as no state.
 */
export async function readIfThere(path: string): Promise<Uint8Array | null> {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** The code of a file-system error, e.g. `EEXIST`. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

async function syncFolder(path: string): Promise<void> {
  // Windows cannot open a folder, and does not need it.
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
