import { createSecretKey } from 'node:crypto';
import * as z from 'zod';
import { exportEvidence } from '../src/evidence/package/index.js';
import { createPostgresEventLog } from '../src/pipeline/event-log/postgres/postgres-event-log.js';
import { createPool } from '../src/platform/database/pool.js';
import { createKeyring } from '../src/platform/keys/index.js';

// Runs an evidence export of a whole site alone in a process, so that its memory and processor time
// can be measured.
const Settings = z.object({
  databaseUrl: z.string(),
  masterKey: z.string().transform((text) => Buffer.from(text, 'base64')),
  siteId: z.string(),
  origin: z.string(),
  output: z.string(),
});
const { databaseUrl, masterKey, siteId, origin, output } = Settings.parse(JSON.parse(process.argv[2] ?? 'null'));

const pool = createPool({
  url: databaseUrl,
  role: 'consent_ledger_worker',
  applicationName: 'consent-ledger bench',
  maxConnections: 4,
  statementTimeoutMs: 30_000,
  onIdleError: (error) => console.error(error),
});
const log = createPostgresEventLog({ url: databaseUrl, role: 'consent_ledger_worker' });
const keyring = await createKeyring(pool, createSecretKey(masterKey));
const request = { siteId, filter: {}, disclose: 'all', output, exportedBy: 'bench' } as const;
const { counts, bytes } = await exportEvidence({ db: pool, eventLog: log, keyring, origin }, request);
await log.close();
await pool.end();
process.stdout.write(JSON.stringify({ counts, bytes }));
