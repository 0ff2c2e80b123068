import { z } from 'zod';
import { DatabaseSetupError } from './errors.js';
import type { DatabaseRole } from './roles.js';
import type { SessionStep } from './session.js';
import { textLiteral } from './sql-literals.js';

export interface SessionOptions {
  /** Role of the connection. Without it the rights of the login user apply (migrations). */
  readonly role?: DatabaseRole;
  /** Milliseconds after which PostgreSQL cancels a statement; 0: never. */
  readonly statementTimeoutMs: number;
  /** Milliseconds that a statement waits for a lock; without it as long as the statement may take. */
  readonly lockTimeoutMs?: number;
}

const IDLE_TRANSACTION_TIMEOUT_MS = 60_000;

/**
 * Settings that each session states itself, because the code depends on them. Defaults of the server,
 * of the database and of the user (`ALTER ROLE … SET`), and a pooler that drops start-up options,
 * change nothing then.
 */
const STATED: Readonly<Record<string, string>> = {
  client_encoding: 'UTF8',
};

/** @returns the steps that set the role and all settings, and then check what the session has */
export function sessionSettings(options: SessionOptions): SessionStep[] {
  const wanted: Readonly<Record<string, string>> = {
    ...STATED,
    statement_timeout: milliseconds(options.statementTimeoutMs),
    lock_timeout: milliseconds(options.lockTimeoutMs ?? 0),
    idle_in_transaction_session_timeout: milliseconds(IDLE_TRANSACTION_TIMEOUT_MS),
    ...(options.role !== undefined && { role: options.role }),
  };
  const names = Object.keys(wanted);
  const sets = Object.entries(wanted).map(([name, value]) => `set_config('${name}', ${textLiteral(value)}, false)`);
  return [
    // A pooler may hand over a session in which another user took on a role.
    { sql: 'reset role' },
    { sql: `select ${sets.join(', ')}` },
    {
      sql: `select json_build_object(${names.map((name) => `'${name}', current_setting('${name}')`).join(', ')}) as settings`,
      accept: (rows) => refuseDifference(wanted, rows),
    },
  ];
}

const Found = z.tuple([z.object({ settings: z.record(z.string(), z.string()) })]);

/** @throws DatabaseSetupError `session_differs` */
export function refuseDifference(wanted: Readonly<Record<string, string>>, rows: readonly unknown[]): void {
  const [{ settings }] = Found.parse(rows);
  for (const [name, value] of Object.entries(wanted)) {
    const found = settings[name];
    if (found === value) continue;
    throw new DatabaseSetupError(
      'session_differs',
      `A database session of the service has ${name} = ${found ?? 'nothing'} after it was set to ${value}. ` +
        'Connect DATABASE_URL to PostgreSQL directly, or through a pooler in session mode that forwards SET.',
    );
  }
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** Returns a duration as PostgreSQL shows it. */
function milliseconds(ms: number): string {
  if (ms === 0) return '0';
  const [unit, size] = UNITS.find(([, size]) => ms % size === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}
