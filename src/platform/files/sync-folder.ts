import { open } from 'node:fs/promises';

/**
 * Makes the entries of a folder durable: a created or renamed file survives a power failure.
 * Windows has no such call and does not need one.
 */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
