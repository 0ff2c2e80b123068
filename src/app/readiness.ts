import { PROJECTIONS } from '../../projections/index.js';
import type { OutboxGauge } from '../pipeline/admission/watches.js';
import type { EventLog } from '../pipeline/event-log/port.js';
import { stoppedProjections } from '../pipeline/projector/index.js';
import { describe, OperatorNeeded } from '../platform/background/part.js';
import { DeadlinePassed, withDeadline } from '../platform/background/waiting.js';
import type { ServerBinding } from '../platform/database/server-binding.js';
import { messageOf } from '../platform/errors.js';
import {
  READINESS_CODES,
  type Readiness,
  type ReadinessCode,
  type ReadinessReason,
  type ReadinessSource,
} from '../platform/health.js';
import { KeyError } from '../platform/keys/index.js';
import type { Installation } from './installation.js';
import { hasOverduePromise } from './metrics/state-query.js';
import type { WorkerBeside } from './supervise-process.js';

export interface ReadinessOptions {
  readonly sources: readonly ReadinessSource[];
  /** Called when a source begins to fail, with its error, for the program's log. */
  readonly onUnknown: (source: string, error: unknown) => void;
  /** Called when the reasons change. */
  readonly onChange: (reasons: readonly ReadinessReason[]) => void;
  /** Age up to which an answer is reused, in milliseconds. */
  readonly freshMs?: number;
  /** Longest wait for an answer, in milliseconds: shorter than a load balancer waits. */
  readonly waitMs?: number;
  /** Age up to which the previous answer replaces one that does not arrive, in milliseconds. */
  readonly staleMs?: number;
}

const FRESH_MS = 1_000;
const WAIT_MS = 1_500;
const STALE_MS = 8_000;

/** Creates the readiness of a process, which its log and its metrics also show. Call it once. */
export function readinessOf({ logger, metrics }: Installation, sources: readonly ReadinessSource[]): Readiness {
  const readiness = createReadiness({
    sources,
    onUnknown: (source, error) => logger.error({ source, reason: describe(error) }, 'the readiness check failed'),
    onChange: (reasons) => logger.warn({ reasons }, 'the readiness of the process changed'),
  });
  metrics.showReadiness(readiness);
  return readiness;
}

/** Creates the readiness of a process from everything that can keep it from its work. */
export function createReadiness(options: ReadinessOptions): Readiness {
  const { freshMs = FRESH_MS, waitMs = WAIT_MS, staleMs = STALE_MS, onUnknown, onChange } = options;
  const watched = options.sources.map((source) => new WatchedSource(source, { freshMs, waitMs, staleMs, onUnknown }));
  let shown = '[]';
  return {
    reasons: async () => {
      const found = (await Promise.all(watched.map((source) => source.reasons()))).flat();
      const codes = READINESS_CODES.filter((code) => found.some((reason) => reason.code === code));
      const reasons = codes.map((code) => merged(code, found));
      const now = JSON.stringify(reasons);
      if (now !== shown) onChange(reasons);
      shown = now;
      return reasons;
    },
  };
}

function merged(code: ReadinessCode, found: readonly ReadinessReason[]): ReadinessReason {
  const names = new Set(found.flatMap((reason) => (reason.code === code ? (reason.names ?? []) : [])));
  return names.size === 0 ? { code } : { code, names: [...names].sort() };
}

type WatchOptions = Required<Pick<ReadinessOptions, 'freshMs' | 'waitMs' | 'staleMs' | 'onUnknown'>>;

/** A source, with its last answer. */
class WatchedSource {
  #underWay: Promise<void> | null = null;
  #answer: readonly ReadinessReason[] = [];
  /** Monotonic milliseconds of the last answer or failure. */
  #answeredAt = Number.NEGATIVE_INFINITY;
  #isFailing = false;

  constructor(
    private readonly source: ReadinessSource,
    private readonly options: WatchOptions,
  ) {}

  async reasons(): Promise<readonly ReadinessReason[]> {
    const { freshMs, waitMs, staleMs } = this.options;
    if (this.#age() >= freshMs) {
      this.#underWay ??= this.#ask().finally(() => {
        this.#underWay = null;
      });
      // Without an earlier answer there is nothing to report until this one arrives or fails.
      const isFirst = !this.#isFailing && this.#age() >= staleMs;
      await withDeadline(this.#underWay, isFirst ? staleMs : waitMs).catch(() => undefined);
    }
    if (this.#age() < staleMs) return this.#answer;
    return this.#fails(new DeadlinePassed(staleMs));
  }

  #age(): number {
    return performance.now() - this.#answeredAt;
  }

  async #ask(): Promise<void> {
    try {
      this.#answer = await this.source.check();
      this.#isFailing = false;
    } catch (error) {
      this.#answer = this.#fails(error);
    }
    this.#answeredAt = performance.now();
  }

  #fails(error: unknown): readonly ReadinessReason[] {
    if (!this.#isFailing) this.options.onUnknown(this.source.name, error);
    this.#isFailing = true;
    return [{ code: this.source.ifUnknown(error) }];
  }
}

/**
 * The database, its master key, and the projections. It uses the worker's connections, because in a process that
 * answers callers they do not compete with admission.
 */
export function databaseSource({ workerPool, keyring }: Installation): ReadinessSource {
  return {
    name: 'database',
    check: async () => {
      await keyring.verifyMasterKey();
      const names = await stoppedProjections(workerPool, PROJECTIONS);
      return names.length === 0 ? [] : [{ code: 'projections_stopped', names }];
    },
    ifUnknown: (error) => (error instanceof KeyError ? 'master_key_differs' : 'database_away'),
  };
}

/** Reports that the process refuses the database server, because its history is lost or the server changed. */
export function historySource({ server }: Pick<Installation, 'server'>): ReadinessSource {
  return { name: 'history', check: () => historyReasons(server), ifUnknown: () => 'history_lost' };
}

/** Returns why the database is not used. */
export function historyReasons(server: ServerBinding): readonly ReadinessReason[] {
  const refusal = server.refusal();
  if (refusal === null) return [];
  return [{ code: refusal.cause instanceof OperatorNeeded ? 'history_lost' : 'database_changed' }];
}

/** The event log. It counts as unavailable until it has been checked once since the start. */
export function logSource(eventLog: Pick<EventLog, 'ping'>): ReadinessSource {
  return {
    name: 'event log',
    check: async () => {
      await eventLog.ping();
      return [];
    },
    ifUnknown: () => 'log_away',
  };
}

/** Age up to which the last check of the promises is reused, in milliseconds. */
const PROMISES_FRESH_MS = 10_000;

/**
 * The promises of consents that are in no Merkle batch yet. A load balancer never waits for this check: it gets the
 * last result, and the source of the database reports a database that does not answer.
 */
export function promisesSource({ workerPool, logger }: Installation): ReadinessSource {
  let isOverdue = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  const look = async (): Promise<void> => {
    lookedAt = performance.now();
    try {
      isOverdue = await hasOverduePromise(workerPool);
    } catch (error) {
      logger.debug({ reason: messageOf(error) }, 'the promises cannot be read');
    }
  };
  return {
    name: 'promises',
    check: () => {
      if (performance.now() - lookedAt >= PROMISES_FRESH_MS) void look();
      return isOverdue ? [{ code: 'promises_overdue' }] : [];
    },
    ifUnknown: () => 'database_away',
  };
}

/** The clock that dates records. @param clock throws while its time must not be used */
export function clockSource(clock: () => number): ReadinessSource {
  return {
    name: 'clock',
    check: () => {
      clock();
      return [];
    },
    ifUnknown: () => 'clock_differs',
  };
}

/** The room in the outbox for accepted consents. */
export function outboxSource(outbox: OutboxGauge): ReadinessSource {
  return {
    name: 'outbox',
    check: () => (outbox.isFull() ? [{ code: 'outbox_full' }] : []),
    ifUnknown: () => 'database_away',
  };
}

/** Where the time stamps come from. A visitor of `/readyz` must not take those of the development authority for evidence. */
export function authoritySource({ config }: Pick<Installation, 'config'>): ReadinessSource {
  return {
    name: 'time stamps',
    check: () => (config.timestamping === undefined ? [{ code: 'development_authority' }] : []),
    ifUnknown: () => 'development_authority',
  };
}

/** The parts of a worker, in this process or another one. */
export function workerSource(worker: Pick<WorkerBeside, 'reasons'>): ReadinessSource {
  return { name: 'worker', check: () => worker.reasons(), ifUnknown: () => 'worker_down' };
}
