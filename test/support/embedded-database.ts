import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';

const Embedded = z.looseObject({ port: z.int() });

/** Returns the connection string of the superuser of the embedded PostgreSQL that runs for a data folder. */
export async function embeddedDatabaseUrl(dataDir: string): Promise<string> {
  const { port } = Embedded.parse(JSON.parse(await readFile(join(dataDir, 'embedded.json'), 'utf8')));
  const password = (await readFile(join(dataDir, 'postgres.password'), 'utf8')).trim();
  return `postgresql://consent_ledger:${encodeURIComponent(password)}@127.0.0.1:${port}/consent_ledger`;
}
