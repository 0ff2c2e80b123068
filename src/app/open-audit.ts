import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import * as z from 'zod';
import { toHex } from '../../schemas/crypto/encoding.js';
import type { AuditParts } from '../audit/section.js';
import { openErasureJournal } from '../erasure/index.js';
import { readLedgerRoot, readLedgerState } from '../pipeline/ledger/ledger-state.js';
import { streamEnds } from '../pipeline/relay/log-check.js';
import type { Config } from '../platform/config/index.js';
import { loadMigrations, programName } from '../platform/database/migrations.js';
import { createPool, type Queryable } from '../platform/database/pool.js';
import { refuseUnmigrated } from '../platform/database/schema-version.js';
import { refuseTransactionPooling } from '../platform/database/server-checks.js';
import { INDEX_JOINS, INDEX_LOOK_UPS } from '../platform/database/session.js';
import { createKeyring, loadMasterKey } from '../platform/keys/index.js';
import { certificatesOfPem } from '../timestamping/authorities.js';
import { openDatabase, openEventLog } from './installation.js';
import { ledgerHeadFile } from './ledger-files.js';
import { tsaRootFile } from './timestamping.js';

/** Inputs of an audit, with the connections that it must close. */
export interface OpenAudit {
  readonly parts: AuditParts;
  close(): Promise<void>;
}

const ROLE = 'consent_ledger_auditor';
const CONNECTIONS = 3;
/** Long enough for comparing a page of rows on a slow disk. */
const STATEMENT_TIMEOUT_MS = 300_000;

/**
 * Opens an installation, live or restored, read-only: database and log in the role `consent_ledger_auditor`. It creates
 * no key and no table.
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

/** Completeness of a restored backup, in addition to the findings of an audit. */
export interface BackupState {
  /** Leaves of the restored ledger tree. */
  readonly ledgerSize: number;
  /** Leaves that the ledger had according to `ledger-head.json`, or null if there is no such file. */
  readonly headSize: number | null;
  /** Whether the restored ledger is a prefix of the remembered one, or null if there is nothing to compare. */
  readonly isSameLedger: boolean | null;
  /** Streams whose end is missing in the log. */
  readonly streamsBehind: readonly string[];
  /**
   * Number of records whose keys the backup brought back, according to the erasure journal. The service destroys these
   * keys at its next start.
   */
  readonly keysBroughtBack: number;
}

/**
 * Compares a restored backup with the files that are stored apart from it: the head of the ledger and the erasure
 * journal. It writes nothing.
 * @throws JournalUnavailable, EventLogUnavailable, database errors
 */
export async function readBackupState({ db, eventLog }: AuditParts, config: Config): Promise<BackupState> {
  const { size } = await readLedgerState(db);
  const head = await ledgerHeadFile(config).read();
  const streamsBehind: string[] = [];
  for await (const { stream, known, actual } of streamEnds(db, eventLog))
    if (actual < known) streamsBehind.push(stream);
  const isComparable = head !== null && head.size > 0 && size >= head.size;
  return {
    ledgerSize: size,
    headSize: head?.size ?? null,
    isSameLedger: isComparable ? toHex(await readLedgerRoot(db, head.size)) === head.root : null,
    streamsBehind,
    keysBroughtBack: await keysBroughtBack(db, config.erasureJournal),
  };
}

const CountRows = z.tuple([z.object({ count: z.int() })]);

async function keysBroughtBack(db: Queryable, path: string): Promise<number> {
  let found = 0;
  for await (const { line } of openErasureJournal(path).read(0)) {
    if (line?.erased == null) continue;
    const { rows } = await db.query('select count(*)::int as count from record_keys where event_id = any($1::uuid[])', [
      line.erased.event_ids,
    ]);
    found += CountRows.parse(rows)[0].count;
  }
  return found;
}

/** Returns whether the service could continue with this backup, apart from the data that it lost. */
export function isBackupSound({ isSameLedger, streamsBehind }: BackupState): boolean {
  return isSameLedger !== false && streamsBehind.length === 0;
}
