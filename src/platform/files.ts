import { open, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';

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

/** What `serve --example` created in its data folder. This file marks the folder as an example. */
const Example = z.object({
  /** Origin of the service when the example was created. Pages of this origin and of development servers may use the keys. */
  url: z.string(),
  domain: z.string(),
  keys: z.object({ read: z.string(), write: z.string() }),
  user: z.object({ email: z.string(), password: z.string() }),
  /** Whether its first decisions are recorded. */
  isRecorded: z.boolean(),
});
export type Example = z.infer<typeof Example>;

const fileIn = (dataDir: string): string => join(dataDir, 'example.json');

/** @returns null if the data folder has no example */
export async function readExample(dataDir: string): Promise<Example | null> {
  const text = await readFile(fileIn(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  return text === null ? null : Example.parse(JSON.parse(text));
}

export async function writeExample(dataDir: string, example: Example): Promise<void> {
  const file = fileIn(dataDir);
  // A reader finds the complete file or none.
  await writeFile(`${file}.new`, `${JSON.stringify(example, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
