import type pg from 'pg';
import type { Logger } from 'pino';
import * as z from 'zod';
import type { ReadinessReason } from '../health.js';
import { withAnySignal } from './signals.js';
import { BackOff, pause, withDeadline } from './waiting.js';

/** Logger of the background parts. Fields and messages never contain personal data. */
export type ServiceLogger = Pick<Logger, 'info' | 'warn' | 'error'>;

/** A long-running part of the service. */
export interface BackgroundPart {
  readonly name: string;

  /**
   * Works until `signal` is aborted, and resolves after the current step, so no step remains half
   * done. Transient failures are retried with back-off.
   * @throws OperatorNeeded for a failure that an operator must resolve; the message says how
   */
  run(signal: AbortSignal): Promise<void>;

  /** Returns counts and states by name, for health checks and metrics. */
  status(): PartStatus;

  /** Returns why the part does not do its work, for `/readyz`. Absent if only its process can tell. */
  reasons?(): readonly ReadinessReason[];
}

export type PartStatus = Readonly<Record<string, number | string | boolean | null>>;

/** A failure that no retry resolves: the part stops, and an operator must act. */
export class OperatorNeeded extends Error {
  override readonly name: string = 'OperatorNeeded';
}

/** Work that ran at least this long did not fail at its start. */
const STEADY_MS = 30_000;

export interface LeasedWork {
  readonly db: pg.Pool;
  /** Name of the lock and of the part in log entries. */
  readonly name: string;
  readonly logger: ServiceLogger;
  /** Works until its signal is aborted, by the caller or by the loss of the lock. */
  readonly work: (signal: AbortSignal, lease: Lease) => Promise<void>;
}

/**
 * Runs `work` under a lock until `signal` is aborted. After a failure or the loss of the lock, it
 * is restarted with back-off.
 * @throws OperatorNeeded for a failure that no retry resolves
 */
export async function runUnderLease(options: LeasedWork, signal: AbortSignal): Promise<void> {
  const backOff = new BackOff();
  while (!signal.aborted) {
    try {
      const lease = await waitForLease(options.db, options.name, signal);
      if (lease === null) return;
      const startedAt = performance.now();
      try {
        await withAnySignal([signal, lease.lost], (leased) => options.work(leased, lease));
      } finally {
        await lease.release();
        if (performance.now() - startedAt > STEADY_MS) backOff.reset();
      }
    } catch (error) {
      if (error instanceof OperatorNeeded) {
        options.logger.error({ part: options.name, reason: describe(error) }, 'stopped: an operator must act');
        throw error;
      }
      options.logger.warn({ part: options.name, reason: describe(error) }, 'failed; trying again');
    }
    if (!signal.aborted) await pause(backOff.next(), signal);
  }
}

/** Returns name and message of an error for a log entry. */
export function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

const heldRows = z.array(z.object({ held: z.boolean() })).length(1);
const HEARTBEAT_MS = 3_000;
/**
 * PostgreSQL ends the session of a holder that has been silent for this long, because its process hangs or its host
 * vanished. That frees the lock; TCP alone would take hours.
 */
const SILENCE_MS = 10_000;

/**
 * An advisory lock of PostgreSQL on its own connection; losing the connection loses the lock. It prevents two processes
 * from doing the same work. The work must be correct even if both believe that they hold the lock.
 */
export interface Lease {
  /** Aborted when the lock is lost. */
  readonly lost: AbortSignal;
  /**
   * Runs a statement on its connection, after earlier ones. The connection then ends with the lease, together with any
   * session state that the statement leaves.
   * @returns the rows
   */
  query(text: string, values?: readonly unknown[]): Promise<readonly unknown[]>;
  /** Calls `heard` for each notification of its connection. */
  onNotification(heard: () => void): void;
  release(): Promise<void>;
}

/**
 * Takes the lock of this name if it is free.
 * @returns null if another process holds it
 */
export async function tryLease(db: pg.Pool, name: string): Promise<Lease | null> {
  const client = await db.connect();
  const lost = new AbortController();
  const onLost = (): void => lost.abort();
  client.on('error', onLost);
  client.on('end', onLost);
  try {
    // Set before the lock is taken, so that a process that hangs right afterwards still loses it.
    await client.query(`set idle_session_timeout = ${SILENCE_MS}`);
    const { rows } = await client.query('select pg_try_advisory_lock(hashtextextended($1, 0)) as held', [
      lockName(name),
    ]);
    const [row] = heldRows.parse(rows);
    if (row?.held !== true) {
      await client.query('set idle_session_timeout = 0');
      client.off('error', onLost);
      client.off('end', onLost);
      client.release();
      return null;
    }
  } catch (error) {
    client.release(true);
    throw error;
  }
  let last: Promise<unknown> = Promise.resolve();
  let isUsed = false;
  const inTurn: Lease['query'] = (text, values = []) => {
    const answer = last.then(async (): Promise<readonly unknown[]> => (await client.query(text, [...values])).rows);
    last = answer.catch(() => undefined);
    return answer;
  };
  let beat: Promise<void> | null = null;
  const heartbeat = setInterval(() => {
    // While one heartbeat waits for its answer, another one would only wait behind it.
    if (beat !== null) return;
    // A connection to a vanished host never answers.
    beat = withDeadline(inTurn('select 1'), SILENCE_MS)
      .then(() => undefined, onLost)
      .finally(() => {
        beat = null;
      });
  }, HEARTBEAT_MS);
  return {
    lost: lost.signal,
    query: (text, values) => {
      isUsed = true;
      return inTurn(text, values);
    },
    onNotification: (heard) => void client.on('notification', heard),
    release: async () => {
      clearInterval(heartbeat);
      await beat;
      const isUnlocked = !lost.signal.aborted && (await unlock(client, name));
      client.off('end', onLost);
      const isKept = isUnlocked && !isUsed;
      if (isKept) client.off('error', onLost);
      client.release(!isKept);
    },
  };
}

/** @returns false if the caller must close the connection, which releases the lock too */
async function unlock(db: pg.PoolClient, name: string): Promise<boolean> {
  try {
    const { rows } = await withDeadline(
      db.query('select pg_advisory_unlock(hashtextextended($1, 0)) as held', [lockName(name)]),
      SILENCE_MS,
    );
    await withDeadline(db.query('set idle_session_timeout = 0'), SILENCE_MS);
    return heldRows.parse(rows)[0]?.held === true;
  } catch {
    return false;
  }
}

function lockName(name: string): string {
  return `consent-ledger ${name}`;
}

/**
 * Waits for the lock of this name.
 * @returns null if `signal` was aborted first
 */
export async function waitForLease(
  db: pg.Pool,
  name: string,
  signal: AbortSignal,
  retryMs = 1_000,
): Promise<Lease | null> {
  while (!signal.aborted) {
    const lease = await tryLease(db, name);
    if (lease !== null) return lease;
    await pause(retryMs, signal);
  }
  return null;
}

/**
 * Repeats a step until `signal` is aborted. A failed step is logged, and repeated after a back-off.
 * @param part name for the log
 * @param step returns the milliseconds until the next step, or 0 for the next step immediately
 */
export async function repeat(
  part: string,
  logger: ServiceLogger,
  signal: AbortSignal,
  step: () => Promise<number>,
): Promise<void> {
  const backOff = new BackOff();
  while (!signal.aborted) {
    try {
      const pauseMs = await step();
      backOff.reset();
      if (pauseMs > 0) await pause(pauseMs, signal);
    } catch (error) {
      logger.warn({ part, reason: describe(error) }, 'failed; trying again');
      await pause(backOff.next(), signal);
    }
  }
}
