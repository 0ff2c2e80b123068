import { open } from 'node:fs/promises';

/** Makes a folder's entries durable: a file that was created or renamed there is found after a power cut. Windows has no such call, and needs none. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
