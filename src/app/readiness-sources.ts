import { PROJECTIONS } from '../../projections/index.js';
import type { OutboxGauge } from '../pipeline/admission/watches.js';
import type { EventLog } from '../pipeline/event-log/port.js';
import { stoppedProjections } from '../pipeline/projector/index.js';
import { OperatorNeeded } from '../platform/background/part.js';
import type { ServerBinding } from '../platform/database/server-binding.js';
import { messageOf } from '../platform/errors.js';
import type { ReadinessReason, ReadinessSource } from '../platform/health.js';
import { KeyError } from '../platform/keys/index.js';
import type { Installation } from './installation.js';
import { hasOverduePromise } from './metrics/state-query.js';
import type { WorkerBeside } from './supervise-process.js';

/**
 * The database, its master key, and the projections. It uses the worker's connections, which in a
 * process that answers callers do not wait for admission.
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

/** The event log; one that was not checked since the start counts as away. */
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

/** Age up to which the last look at the promises counts, in milliseconds. */
const PROMISES_FRESH_MS = 10_000;

/**
 * The promises of consents that are in no batch. A load balancer waits for no look at them: the last one
 * counts, and the source of the database reports one that does not answer.
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

/** The clock that dates records. @param clock throws while it must not be used */
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

/** The room for accepted consents that wait. */
export function outboxSource(outbox: OutboxGauge): ReadinessSource {
  return {
    name: 'outbox',
    check: () => (outbox.isFull() ? [{ code: 'outbox_full' }] : []),
    ifUnknown: () => 'database_away',
  };
}

/** The parts of a worker, in this process or beside it. */
export function workerSource(worker: Pick<WorkerBeside, 'reasons'>): ReadinessSource {
  return { name: 'worker', check: () => worker.reasons(), ifUnknown: () => 'worker_down' };
}
