import type pg from 'pg';
import type { Logger } from 'pino';
import type { EventLog, LoggedEvent } from '../pipeline/event-log/port.js';
import { createPostgresEventLog } from '../pipeline/event-log/postgres/postgres-event-log.js';
import { createLedgerGuard, type LedgerGuard } from '../pipeline/ledger/ledger-guard.js';
import { pause } from '../platform/background/waiting.js';
import type { Config } from '../platform/config/index.js';
import { type ConnectionOptions, connectClient } from '../platform/database/connection.js';
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../platform/database/embedded/index.js';
import { certificateHint, DatabaseSetupError } from '../platform/database/errors.js';
import { type MigrateOptions, migrate } from '../platform/database/migrate.js';
import { loadMigrations, programName } from '../platform/database/migrations.js';
import { createPool, type TransactionHooks } from '../platform/database/pool.js';
import { ensureRoles } from '../platform/database/rights.js';
import { compareSchema, type SchemaDifference } from '../platform/database/schema-differences.js';
import { refuseUnmigrated } from '../platform/database/schema-version.js';
import { bindServer, type ServerBinding } from '../platform/database/server-binding.js';
import { refuseTransactionPooling, refuseUnsafeServer } from '../platform/database/server-checks.js';
import type { DatabaseRole } from '../platform/database/session.js';
import { messageOf } from '../platform/errors.js';
import {
  createKeyring,
  createRandomPool,
  FORGET_CHANGES,
  type Keyring,
  loadMasterKey,
  type RandomPool,
  type ReportAlteredRow,
  reloadOf,
} from '../platform/keys/index.js';
import { openTracing } from '../platform/telemetry/open-tracing.js';
import type { Tracing } from '../platform/telemetry/tracing.js';
import { VERSION } from '../platform/version.js';
import { reportCaught } from './end-on-uncaught.js';
import { ledgerHeadFile } from './ledger-files.js';
import { createMetrics, type Metrics } from './metrics/metrics.js';
import type { CountAlteredRow } from './metrics/part-metrics.js';
import { createProcessMemory, type ProcessMemory } from './process-memory.js';

/**
 * The resources that the roles and commands of one installation use. The function that opens it
 * must close it.
 */
export interface Installation {
  readonly config: Config;
  readonly logger: Logger;
  readonly databaseUrl: string;
  /** The role with the fewest rights, for requests of clients. */
  readonly apiPool: pg.Pool;
  /** The role of relay, sealer, stamper and erasure. */
  readonly workerPool: pg.Pool;
  /** The role that may change only the read models. */
  readonly projectionsPool: pg.Pool;
  /** The role that may change tenants, sites, keys, users and documents, for the panel and for operators' commands. */
  readonly adminPool: pg.Pool;
  readonly keyring: Keyring;
  readonly random: RandomPool;
  readonly eventLog: EventLog;
  /** Asked before anything continues the ledger, signs it, or makes a promise in its name. */
  readonly guard: LedgerGuard;
  /** The database server that all connections reach. */
  readonly server: ServerBinding;
  readonly memory: ProcessMemory;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  /** The embedded PostgreSQL, or null if `DATABASE_URL` is set. */
  readonly embedded: EmbeddedPostgres | null;
  close(): Promise<void>;
}

/** Migrates the database. Then the schema is compared with the schema that the migrations create. */
export interface ComparedMigration extends MigrateOptions {
  readonly onDifference: (difference: SchemaDifference) => void;
}

export interface InstallationOptions {
  /** Shown in `pg_stat_activity` and log lines. */
  readonly role: string;
  /** Whether a database given by `DATABASE_URL` is migrated, and how; the embedded one always is. */
  readonly migrates: boolean | ComparedMigration;
  /** Whether the process continues the ledger, and therefore keeps its head. If absent, it does not. */
  readonly signs?: boolean;
  /** Earlier knowledge of the ledger in this process. Absent if there is none. */
  readonly memory?: ProcessMemory;
}

/**
 * Opens the database (embedded or given), the keyring and the event log.
 * @throws DatabaseSetupError, EmbeddedPostgresError, KeyError: each with a message for the operator
 */
export async function openInstallation(
  config: Config,
  logger: Logger,
  options: InstallationOptions,
): Promise<Installation> {
  const { signs = false, memory = createProcessMemory() } = options;
  const closers: (() => Promise<void>)[] = [];
  const closeAll = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const about = { role: options.role, version: VERSION };
    const metrics = createMetrics(about);
    closers.push(async () => metrics.stop());
    const tracing = await openTracing(config.tracing, { ...about, logger });
    closers.push(() => tracing.stop());
    const embedded = await openDatabase(config, logger);
    if (embedded !== null) closers.push(() => embedded.release());
    const databaseUrl = embedded?.superuserUrl ?? config.database.url ?? '';
    await prepareSchema(databaseUrl, logger, schemaWork(options.migrates, embedded !== null));

    const server = bindServer();
    const openPool = (role: DatabaseRole, maxConnections: number, transactions?: TransactionHooks): pg.Pool => {
      const pool = createPool({
        url: databaseUrl,
        role,
        applicationName: programName(options.role),
        maxConnections,
        statementTimeoutMs: STATEMENT_TIMEOUT_MS,
        server,
        onIdleError: (error) => logger.warn({ reason: error.message }, 'a database connection was lost'),
        ...(transactions !== undefined && { transactions }),
      });
      closers.push(() => pool.end());
      return pool;
    };
    // Set below, because the two need each other: the keyring reads its keys through this pool, and the pool seals its
    // transactions with a key of the keyring.
    const sealing: { hooks: TransactionHooks | null } = { hooks: null };
    const workerPool = openPool('consent_ledger_worker', config.database.poolSize + LEASES, {
      begin: FORGET_CHANGES,
      beforeCommit: async (db) => sealing.hooks?.beforeCommit(db),
    });
    const projectionsPool = openPool('consent_ledger_projections', config.database.poolSize);
    const master = await loadMasterKey(config.masterKey);
    const keyring = await createKeyring(workerPool, master, {
      reload: reloadOf(config.masterKey),
      reportAltered: reportAlteredRows(logger, metrics.countAlteredRow),
    });
    sealing.hooks = keyring.sealing;
    const apiPool = openPool('consent_ledger_api', config.database.poolSize, keyring.sealing);
    const adminPool = openPool('consent_ledger_admin', ADMIN_CONNECTIONS, keyring.sealing);
    // The embedded server is this installation's own.
    if (embedded === null)
      closers.push(watchServer({ url: databaseUrl, server, applicationName: programName('watch'), ...WATCHING }));
    metrics.showServer(server);
    metrics.showPools({ api: apiPool, worker: workerPool, projections: projectionsPool });
    const eventLog = await openEventLog(config, databaseUrl, logger, {
      role: 'consent_ledger_worker',
      server,
      countForeignEvent: metrics.countForeignEvent,
      onCaught: reportCaught({ logger, metrics }, 'event_log'),
    });
    closers.push(() => eventLog.close());
    return {
      config,
      logger,
      databaseUrl,
      apiPool,
      workerPool,
      projectionsPool,
      adminPool,
      keyring,
      random: createRandomPool(),
      eventLog,
      guard: createLedgerGuard({
        db: workerPool,
        file: ledgerHeadFile(config),
        memory,
        eventLog: signs ? eventLog : null,
        onRolledBack: server.refuse,
      }),
      server,
      memory,
      metrics,
      tracing,
      embedded,
      close: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

const STATEMENT_TIMEOUT_MS = 30_000;
const ADMIN_CONNECTIONS = 4;
/**
 * Parts of a worker that hold a connection as long as they run: relay, sealer, stamper, cosigner, erasure, retention and
 * domain proofs. Within the configured number, a small one would leave them none to work with.
 */
export const LEASES = 7;
const WATCHING = {
  role: 'consent_ledger_api',
  statementTimeoutMs: 5_000,
} as const;

/** Opens the embedded database, if the configuration names no other. @returns null if `DATABASE_URL` is set */
export async function openDatabase(config: Config, logger: Logger): Promise<EmbeddedPostgres | null> {
  if (config.database.url !== undefined) return null;
  return openEmbeddedPostgres({ dataDir: config.dataDir, log: (line) => logger.info(line) });
}

function schemaWork(
  migrates: InstallationOptions['migrates'],
  isEmbedded: boolean,
): ComparedMigration | 'migrate' | 'check' {
  if (typeof migrates === 'object') return migrates;
  return migrates || isEmbedded ? 'migrate' : 'check';
}

/**
 * Migrates the schema, checks that it is up to date, or only creates the roles.
 * @throws DatabaseSetupError
 */
export async function prepareSchema(
  databaseUrl: string,
  logger: Logger,
  work: ComparedMigration | 'migrate' | 'check' | 'roles',
): Promise<void> {
  const owner = createPool({
    url: databaseUrl,
    applicationName: 'consent-ledger migrate',
    // Only a pooler needs the second one.
    maxConnections: 2,
    statementTimeoutMs: 0,
    onIdleError: (error) => logger.warn({ reason: error.message }, 'a database connection was lost'),
  });
  try {
    await refuseUnsafeServer(owner).catch((cause: unknown) => {
      throw cause instanceof DatabaseSetupError ? cause : unreachable(cause);
    });
    await refuseTransactionPooling(owner);
    if (work === 'roles') return await ensureRoles(owner);
    const migrations = loadMigrations();
    if (work !== 'check') {
      const applied = await migrate(owner, migrations, work === 'migrate' ? undefined : work);
      if (applied.length > 0) logger.info({ applied }, 'database schema migrated');
      if (work !== 'migrate') for (const difference of await compareSchema(owner)) work.onDifference(difference);
    } else {
      await refuseUnmigrated(owner, migrations);
    }
  } finally {
    await owner.end();
  }
}

export interface EventLogConnection {
  /** Role of the connections to the `postgres` log. Appending needs the role of the worker. */
  readonly role: DatabaseRole;
  /** The only server that connections of the `postgres` log may reach. */
  readonly server?: ServerBinding;
  /** Called once for each event that another program wrote to a stream of its own. */
  readonly countForeignEvent?: () => void;
  /** Called when an event of the log caused an exception that ended a read. */
  readonly onCaught?: (error: unknown) => void;
}

/** Opens an event log: EventStoreDB if a URL is given, otherwise that in the database. */
export async function openEventLog(
  { eventStoreUrl }: Pick<Config, 'eventStoreUrl'>,
  databaseUrl: string,
  logger: Logger,
  { countForeignEvent = () => undefined, onCaught = () => undefined, ...connection }: EventLogConnection,
): Promise<EventLog> {
  let isSaid = false;
  const onForeign = ({ stream, type }: LoggedEvent): void => {
    countForeignEvent();
    if (!isSaid) logger.warn({ stream, type }, 'the event log has events that another program wrote; they are ignored');
    isSaid = true;
  };
  const onInterruption = (error: unknown): void => {
    logger.info({ reason: messageOf(error) }, 'reading of the event log was interrupted; resuming');
  };
  if (eventStoreUrl !== undefined) {
    // The client library is large: an installation without EventStoreDB must not load it.
    const { createEventStoreDbEventLog } = await import('../pipeline/event-log/eventstoredb/eventstoredb-event-log.js');
    return createEventStoreDbEventLog(eventStoreUrl, { onInterruption, onForeign, onCaught });
  }
  return createPostgresEventLog({ url: databaseUrl, ...connection, onInterruption, onForeign });
}

/** The message names only the variable, because the connection string contains a password. */
function unreachable(cause: unknown): DatabaseSetupError {
  const reason = cause instanceof Error && cause.message !== '' ? cause.message : String(cause);
  const hint = certificateHint(cause) ?? 'Check DATABASE_URL.';
  return new DatabaseSetupError('unreachable', `The database cannot be used (${reason}). ${hint}`, { cause });
}

/** Longest time for which open connections to a server that the address no longer leads to may go unnoticed. */
const EVERY_MS = 5_000;

/**
 * Opens a new connection every few seconds and closes the previous one. Connections that stay open never show that the
 * address now leads to another server: a former leader that was frozen and wakes up would accept consents that the new
 * leader does not have. The binding in the options refuses the other server. The newest connection stays open, so that
 * a migration also sees a process that is idle.
 * @param everyMs pause between two connections, in milliseconds
 * @returns a function that stops the watch
 */
export function watchServer(options: ConnectionOptions, everyMs = EVERY_MS): () => Promise<void> {
  const stop = new AbortController();
  const watching = watch(options, everyMs, stop.signal);
  return async () => {
    stop.abort();
    await watching;
  };
}

async function watch(options: ConnectionOptions, everyMs: number, signal: AbortSignal): Promise<void> {
  let open: pg.Client | null = null;
  // A server that vanished never confirms that the connection has ended.
  const leave = (): void => void open?.end().catch(() => undefined);
  for (;;) {
    await pause(everyMs, signal);
    if (signal.aborted) return leave();
    try {
      const client = await connectClient(options);
      leave();
      open = client;
    } catch {
      // The parts that need the server report that it cannot be reached, and the binding reports a refusal.
    }
  }
}

/** Number of rows whose report is remembered, so that a repeated request does not fill the log. */
const MAX_REMEMBERED = 10_000;

/** Creates the function that reports altered rows: it counts every finding and logs each row once. */
export function reportAlteredRows(logger: Pick<Logger, 'error'>, count: CountAlteredRow): ReportAlteredRow {
  const logged = new Set<string>();
  return ({ table, id }) => {
    count(table);
    const name = `${table} ${id}`;
    if (logged.has(name)) return;
    if (logged.size >= MAX_REMEMBERED) logged.clear();
    logged.add(name);
    logger.error(
      { code: 'ROW_ALTERED', table, id },
      'a stored row was altered outside the service: it is left out and grants nothing',
    );
  };
}
