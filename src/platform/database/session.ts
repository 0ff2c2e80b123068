import pg from 'pg';
import * as z from 'zod';
import { DatabaseSetupError, isConnectionFailure } from './errors.js';
import { textLiteral } from './parameters.js';

/**
 * Group roles that the service's connections take on (SET ROLE). None of them can log in, and
 * `ensureRoles` creates them.
 *
 * - `consent_ledger_api` answers callers: admission, look-ups, verification.
 * - `consent_ledger_worker`: relay, sealer, stamper, erasure, exports.
 * - `consent_ledger_projections` owns the read models and changes nothing else.
 * - `consent_ledger_admin` changes tenants, sites, keys, users and documents.
 * - `consent_ledger_auditor` reads everything and changes nothing: `consent-ledger audit`.
 */
export const DATABASE_ROLES = [
  'consent_ledger_api',
  'consent_ledger_worker',
  'consent_ledger_projections',
  'consent_ledger_admin',
  'consent_ledger_auditor',
] as const;

/** Role of a connection. Each role has only the rights that its part of the service needs. */
export type DatabaseRole = (typeof DATABASE_ROLES)[number];

/** Owner of the schema `read_model` and of the schemas of the generations. */
export const READ_MODEL_OWNER: DatabaseRole = 'consent_ledger_projections';

/** Roles that read every view of `read_model`. */
export const READ_MODEL_READERS: readonly DatabaseRole[] = [
  'consent_ledger_api',
  'consent_ledger_worker',
  'consent_ledger_auditor',
];

/**
 * Returns the statements that an administrator runs if the service's user may not create roles.
 * @param user name of the database user that runs the migrations
 */
export function rolesSqlForAdministrator(user: string): string {
  const name = `"${user.replaceAll('"', '""')}"`;
  return DATABASE_ROLES.map((role) => `CREATE ROLE ${role} NOLOGIN; GRANT ${role} TO ${name};`).join('\n');
}

/**
 * One part of what each new connection does before its first use. The statements of all steps are sent in one message,
 * so a connection costs only one extra round trip, however many steps there are.
 */
export interface SessionStep {
  /** One statement without parameters and without a semicolon. */
  readonly sql: string;
  /**
   * Receives the rows of the statement.
   * @throws Error if the connection must not be used; it is closed, and `connect` rejects with this error
   */
  readonly accept?: (rows: readonly unknown[]) => void;
}

const ANSWER_MS = 10_000;
const Results = z.array(z.object({ rows: z.array(z.unknown()) }));

/**
 * Prepares a new connection: runs the statements of the steps in order, in one implicit transaction,
 * and then gives each step its rows.
 * @throws any error of a step; DatabaseSetupError `session_refused` if the server refuses a statement;
 *   any error of the connection
 */
export async function prepareSession(client: pg.ClientBase, steps: readonly SessionStep[]): Promise<void> {
  const text = steps.map(({ sql }) => sql).join(';\n');
  const query: pg.QueryConfig & Pick<pg.ClientConfig, 'query_timeout'> = { text, query_timeout: ANSWER_MS };
  // `pg` returns a list for a message with more than one statement.
  const answer: unknown = await client.query(query).catch((error: unknown) => {
    throw refused(error);
  });
  const results = Results.parse(Array.isArray(answer) ? answer : [answer]);
  for (const [place, { accept }] of steps.entries()) accept?.(results[place]?.rows ?? []);
}

/** Returns the error to throw. An error of the connection is passed on, because the caller may retry. */
function refused(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError) || isConnectionFailure(error)) return error;
  return new DatabaseSetupError(
    'session_refused',
    `The database refuses what each connection of the service begins with (${error.message}). Check the roles that ` +
      '`consent-ledger migrate` creates, and the defaults that ALTER ROLE or ALTER DATABASE gave to the user of DATABASE_URL.',
    { cause: error },
  );
}

export interface SessionOptions {
  /** Role of the connection. Without it the rights of the login user apply (migrations). */
  readonly role?: DatabaseRole;
  /** Time after which PostgreSQL cancels a statement, in milliseconds, or 0 for never. */
  readonly statementTimeoutMs: number;
  /** Milliseconds that a statement waits for a lock. If absent, it waits as long as the statement may take. */
  readonly lockTimeoutMs?: number;
}

/** Value of a setting, as PostgreSQL shows it. */
type Settings = Readonly<Record<string, string>>;

/**
 * Settings that each session states itself, because they decide what a statement means, what it may do, or how long it
 * may take. They override the defaults of the server, the database and the user. Settings that only affect the choice
 * of a plan or its memory are not here, because an operator may tune them.
 */
export const STATED_SETTINGS: Settings = {
  // The event log refuses other isolation levels, and statements outside `withTransaction` use the default.
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  default_transaction_deferrable: 'off',
  // For names without a schema: tables of another schema must not hide those of the service.
  search_path: 'public',
  // Rows that a policy hides would silently be missing. This makes it an error.
  row_security: 'off',
  // A NULL in an array would become the text "NULL".
  array_nulls: 'on',
  transform_null_equals: 'off',
  standard_conforming_strings: 'on',
  // `pg` and the code parse values in these formats.
  client_encoding: 'UTF8',
  DateStyle: 'ISO, YMD',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  // Definitions of the schema are compared as texts.
  quote_all_identifiers: 'off',
  // Some errors are expected and handled, for example when two writers collide.
  exit_on_error: 'off',
  // A pooled connection may be idle for any time, but a session that idles within a transaction holds locks.
  idle_session_timeout: '0',
  idle_in_transaction_session_timeout: '1min',
};

/** Settings that a session without the rights of a superuser cannot change. */
const DEMANDED: Settings = {
  // Any other value turns off triggers and foreign keys.
  session_replication_role: 'origin',
  // With either of the two, damaged pages are read as if they were intact.
  zero_damaged_pages: 'off',
  ignore_checksum_failure: 'off',
};

/**
 * Returns the steps that set role and settings of a new connection, and then check what it has. The response to a
 * consent promises a flushed commit, so `synchronous_commit` is at least `on`. PostgreSQL 17 and later have
 * `transaction_timeout`, which would cut off an export.
 */
export function sessionSettings(options: SessionOptions): SessionStep[] {
  const stated: Settings = {
    ...STATED_SETTINGS,
    statement_timeout: duration(options.statementTimeoutMs),
    lock_timeout: duration(options.lockTimeoutMs ?? 0),
    ...(options.role !== undefined && { role: options.role }),
  };
  const sets = Object.entries(stated).map(([name, value]) => `set_config('${name}', ${textLiteral(value)}, false)`);
  const wanted = { ...stated, ...DEMANDED };
  const shown = Object.keys(wanted).map((name) => `'${name}', current_setting('${name}')`);
  return [
    // A pooler may hand over a session in which another connection assumed a role.
    { sql: 'reset role' },
    { sql: `select ${sets.join(', ')}` },
    {
      sql: `select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') <> 'remote_apply'`,
    },
    {
      sql: `select set_config('transaction_timeout', '0', false) where current_setting('transaction_timeout', true) is not null`,
    },
    {
      sql: `select current_user as "user", json_build_object(${shown.join(', ')}) as settings`,
      accept: (rows) => refuseDifference(wanted, rows),
    },
  ];
}

const Found = z.tuple([z.object({ user: z.string(), settings: z.record(z.string(), z.string()) })]);
const ROLES: ReadonlySet<string> = new Set(DATABASE_ROLES);

/**
 * @param rows the user and the settings of the session
 * @throws DatabaseSetupError `session_differs`
 */
export function refuseDifference(wanted: Settings, rows: readonly unknown[]): void {
  const [{ user, settings }] = Found.parse(rows);
  const name = Object.keys(wanted).find((setting) => settings[setting] !== wanted[setting]);
  if (name !== undefined) throw differs(name, settings[name] ?? 'no value', wanted[name] ?? '');
  if (user !== (wanted.role ?? user)) throw differs('current_user', user, wanted.role ?? '');
  // Without a role, the session must have the rights of the owner of the tables.
  if (wanted.role === undefined && ROLES.has(user)) throw differs('role', user, 'none');
}

function differs(name: string, found: string, wanted: string): DatabaseSetupError {
  return new DatabaseSetupError(
    'session_differs',
    `A session of the database user in DATABASE_URL has ${name} = ${found}, and the service needs ${wanted}. Remove ` +
      `the default: ALTER ROLE … RESET ${name}, ALTER DATABASE … RESET ${name}, or postgresql.conf. If there is none, ` +
      'a pooler in front of PostgreSQL does not forward SET: connect directly, or to a pooler in session mode.',
  );
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** Returns a duration as PostgreSQL shows it. */
function duration(ms: number): string {
  if (ms === 0) return '0';
  const [unit, size] = UNITS.find(([, size]) => ms % size === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}

/**
 * Settings of a session whose statements look up rows of large tables by key, or read them page by page in the order of
 * a key. With statistics from when a table was empty, or without any, the planner would read and sort the whole table
 * for each page. A plan without an index is still found. Before PostgreSQL 18 the planner overestimates the cost of
 * these plans, and `jit` would compile each of them.
 */
export const INDEX_LOOK_UPS: SessionStep = {
  sql: `select ${['enable_seqscan', 'enable_bitmapscan', 'enable_sort', 'jit']
    .map((name) => `set_config('${name}', 'off', false)`)
    .join(', ')}`,
};

/** Like `INDEX_LOOK_UPS`, but joins of whole tables also look up each row of the other table by key. */
export const INDEX_JOINS: SessionStep = {
  sql: `select set_config('enable_hashjoin', 'off', false), set_config('enable_mergejoin', 'off', false)`,
};
