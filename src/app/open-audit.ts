import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { AuditParts } from '../audit/section.js';
import type { Config } from '../platform/config/index.js';
import { loadMigrations, programName } from '../platform/database/migrations.js';
import { createPool } from '../platform/database/pool.js';
import { refuseUnmigrated } from '../platform/database/schema-version.js';
import { refuseTransactionPooling } from '../platform/database/server-checks.js';
import { INDEX_JOINS, INDEX_LOOK_UPS } from '../platform/database/session.js';
import { createKeyring, loadMasterKey } from '../platform/keys/index.js';
import { certificatesOfPem } from '../timestamping/authorities.js';
import { openDatabase, openEventLog } from './installation.js';
import { tsaRootFile } from './timestamping.js';

/** Inputs of an audit, with the connections that it must close. */
export interface OpenAudit {
  readonly parts: AuditParts;
  close(): Promise<void>;
}

const ROLE = 'consent_ledger_auditor';
const CONNECTIONS = 3;
/** Comparisons of a page must not be cut off on a slow disk. */
const STATEMENT_TIMEOUT_MS = 300_000;

/**
 * Opens an installation, working or restored, for reading only: database and log in the role
 * `consent_ledger_auditor`, no key and no table is made.
 * @throws DatabaseSetupError, EmbeddedPostgresError, KeyError; Error if the root certificates of the time
 *   stamps cannot be read: each with a message for the operator
 */
export async function openAudit(config: Config, logger: Logger): Promise<OpenAudit> {
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const { masterKey } = config;
    const master = await loadMasterKey(
      masterKey.kind === 'generated' ? { kind: 'file', path: masterKey.path } : masterKey,
    );
    const embedded = await openDatabase(config, logger);
    if (embedded !== null) closers.push(() => embedded.release());
    const databaseUrl = embedded?.superuserUrl ?? config.database.url ?? '';
    const db = createPool({
      url: databaseUrl,
      role: ROLE,
      applicationName: programName('audit'),
      maxConnections: CONNECTIONS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      sessionSteps: [INDEX_LOOK_UPS, INDEX_JOINS],
      onIdleError: (error) => logger.warn({ reason: error.message }, 'a database connection was lost'),
    });
    closers.push(() => db.end());
    await refuseTransactionPooling(db);
    await refuseUnmigrated(db, loadMigrations());
    const keyring = await createKeyring(db, master, { isReadOnly: true });
    const eventLog = await openEventLog(config, databaseUrl, logger, { role: ROLE });
    closers.push(() => eventLog.close());
    const trustAnchors = await readAnchors(tsaRootFile(config));
    return { parts: { db, eventLog, keyring, master, trustAnchors, now: () => new Date() }, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function readAnchors(path: string): Promise<readonly Uint8Array[]> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new Error(
      `The root certificates ${path} of the time stamps cannot be read. Set TSA_CA_FILE, or put the file of the development authority in its place.`,
      { cause },
    );
  });
  return certificatesOfPem(text);
}
