import { createSecretKey } from 'node:crypto';
import { z } from 'zod';
import { createPool } from '../../src/platform/database/pool.js';
import { createKeyring } from '../../src/platform/keys/index.js';
import { createSiteFixture } from '../../test/pipeline/admission/site-fixture.js';

// Makes sites in a database, and sends them to its parent process. built-version.ts bundles this file
// with the code of the version that is measured: each version seals and records its sites in its own
// way. The panel API would take an hour for a thousand sites, because it limits the requests of a user.
const AT_ONCE = 2;

const Settings = z.object({
  databaseUrl: z.string(),
  masterKey: z.string().transform((text) => Buffer.from(text, 'base64')),
  sites: z.int(),
});
const { databaseUrl, masterKey, sites } = Settings.parse(JSON.parse(process.argv[2] ?? 'null'));

const options = {
  url: databaseUrl,
  applicationName: 'consent-ledger bench sites',
  maxConnections: AT_ONCE,
  statementTimeoutMs: 60_000,
  onIdleError: (error: Error) => console.error(error),
};
const keyPool = createPool(options);
const keyring = await createKeyring(keyPool, createSecretKey(masterKey));
// The service trusts no site and no key without its seal.
const pool = createPool({ ...options, transactions: keyring.sealing });
const made: unknown[] = [];
const make = async (): Promise<void> => {
  for (let left = sites / AT_ONCE; left > 0; left -= 1) made.push(await createSiteFixture(pool));
};
await Promise.all(Array.from({ length: AT_ONCE }, make));
await Promise.all([pool.end(), keyPool.end()]);
process.send?.(made, () => process.disconnect());
