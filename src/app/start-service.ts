import type { Logger } from 'pino';
import { gateEventLog } from '../pipeline/event-log/gated-event-log.js';
import { describe, OperatorNeeded } from '../platform/background/part.js';
import type { Config, Environment } from '../platform/config/index.js';
import type { ReadinessReason } from '../platform/health.js';
import { createApi } from './api.js';
import { assertMayPromise } from './compare-history.js';
import { assertConnectionsFit } from './connection-room.js';
import { followServer, type Handover, type ServerRun } from './follow-server.js';
import { createFurtherApis, GROUPS_OF_SEVERAL } from './further-apis.js';
import { type Installation, openInstallation } from './installation.js';
import { whenLogAnswers } from './prepare-installation.js';
import { assertAcceptedKept } from './process-memory.js';
import type { WorkerBeside } from './supervise-process.js';

/**
 * A running role. Its `stop` stops the parts in the order of the pipeline: accepted requests and
 * background steps are completed.
 */
export type Service = ServerRun;

/** Something that runs. It is stopped before whatever was started earlier. */
interface Running {
  stop(): Promise<void>;
}

/** The preparation of an installation, which may wait. */
interface Preparing extends Running {
  /** Returns why nothing is read from the log yet. */
  reasons(): readonly ReadinessReason[];
}

/**
 * Composes and starts `api`, the part that answers callers.
 * @param restarts how often its process was restarted
 * @throws errors of configuration, database, keys and event log, each with a message for the
 *   operator
 */
export function startApi(config: Config, logger: Logger, restarts = 0): Promise<Service> {
  const open = (handover: Handover): Promise<ServerRun> =>
    starting(async (running) => {
      const { memory } = handover;
      const installation = await openInstallation(handover.config, logger, { role: 'api', migrates: false, memory });
      running.push({ stop: () => installation.close() });
      await assertConnectionsFit(installation);
      await assertMayPromise(installation);
      const gate = gateEventLog(installation.eventLog);
      const preparing = await startPreparing(installation, () => gate.open());
      running.push(preparing);
      const api = await createApi({ ...installation, eventLog: gate.eventLog }, { preparing, restarts });
      running.push(api);
      await handover.begins();
      return { installation, url: await api.listen(), failed: new Promise(() => undefined) };
    });
  return followServer({ config, logger, open });
}

export interface ServeOptions {
  /** Environment of the further processes that answer callers, or null if there are none. */
  readonly env?: Environment | null;
  /** How often this process was restarted. */
  readonly restarts?: number;
}

/**
 * Composes and starts `serve`: the API in this process, and a worker beside it. It migrates the
 * schema. The worker prepares the installation.
 * @param worker the worker, which is stopped with the service even if the service does not start
 * @throws as `startApi`; errors of the worker
 */
export async function startServe(
  config: Config,
  logger: Logger,
  worker: WorkerBeside,
  { env = null, restarts = 0 }: ServeOptions = {},
): Promise<Service> {
  let isEnding = true;
  const beside = { stop: async () => (isEnding ? worker.stop() : undefined) };
  const open = (handover: Handover): Promise<ServerRun> =>
    starting(async (running) => {
      // The worker follows the server by itself, so later runs find it running and leave it running.
      running.push(beside);
      const { memory } = handover;
      const options = { role: 'serve', migrates: handover.isFirst, memory };
      const installation = await openInstallation(handover.config, logger, options);
      // The worker stops before the installation closes, although it was created earlier.
      running.unshift({ stop: () => installation.close() });
      await assertConnectionsFit(installation);
      await installation.guard.check();
      await assertAcceptedKept(installation.workerPool, memory);
      const workerRuns = handover.isFirst ? worker.start() : Promise.resolve();
      // If creating the API fails first, its error is the one to report.
      workerRuns.catch(() => undefined);
      const gate = gateEventLog(installation.eventLog);
      void worker.prepared.then(() => gate.open());
      const furtherCount = env === null ? 0 : handover.config.http.processes - 1;
      const apiOptions = { worker, restarts, ...(furtherCount > 0 && { groupsInFlight: GROUPS_OF_SEVERAL }) };
      const api = await createApi({ ...installation, eventLog: gate.eventLog }, apiOptions);
      const answering: Running[] = [api];
      // All processes drain at the same time, so that callers do not find one that seems to stay.
      running.push({ stop: async () => void (await Promise.all(answering.map((part) => part.stop()))) });
      await workerRuns;
      await handover.begins();
      const url = await api.listen();
      if (env !== null && furtherCount > 0) {
        const further = createFurtherApis({ count: furtherCount, env, installation, worker, server: api.server });
        answering.push(further);
        installation.metrics.showFurther(further);
        await further.start();
      }
      return { installation, url, failed: worker.failed };
    });
  const service = await followServer({ config, logger, open });
  isEnding = false;
  return {
    ...service,
    get installation() {
      return service.installation;
    },
    stop: () => {
      isEnding = true;
      return service.stop();
    },
  };
}

/**
 * Composes and starts `worker`: the background parts, and the routes that show their health, even while the parts wait
 * for the event log.
 * @throws as `startApi`; errors of the time stamp authorities' configuration
 */
export function startWorkerService(config: Config, logger: Logger): Promise<Service> {
  const open = (handover: Handover): Promise<ServerRun> =>
    starting(async (running) => {
      // Imported only here, because the API and `serve` do not need the code of the parts.
      const { startWorkerRun } = await import('./worker-run.js');
      const { createHealthServer } = await import('./health-server.js');
      const worker = await startWorkerRun(handover, logger);
      running.push(worker);
      await worker.begun;
      await handover.begins();
      const front = createHealthServer(worker.installation, worker.reasons);
      running.push(front);
      return { installation: worker.installation, url: await front.listen(), failed: worker.failed };
    });
  return followServer({ config, logger, open });
}

/**
 * Prepares the installation. If the log does not answer or is damaged, this continues in the background; meanwhile
 * consents are accepted and nothing is read from the log. In the background, every failure that needs no operator is
 * retried, for example a restart of the database. Otherwise the process would never read the log.
 * @throws the errors of `prepareInstallation`, except EventLogUnavailable and LogDamaged, if the log answers
 *   immediately
 */
async function startPreparing(installation: Installation, onPrepared: () => void): Promise<Preparing> {
  const stopping = new AbortController();
  let isWaiting = false;
  let reasons: readonly ReadinessReason[] = [];
  let onWaiting = (_found: readonly ReadinessReason[]): void => undefined;
  const waiting = new Promise<void>((resolve) => {
    onWaiting = (found) => {
      isWaiting = true;
      reasons = found;
      resolve();
    };
  });
  const isPassing = (error: unknown): boolean => isWaiting && !(error instanceof OperatorNeeded);
  const wait = { seals: false, onWaiting, isPassing, signal: stopping.signal };
  const prepared = whenLogAnswers(installation, wait, async () => {
    reasons = [];
    onPrepared();
  }).catch((error: unknown) => {
    if (!isWaiting) throw error;
    installation.logger.error(
      { reason: describe(error) },
      'the event log cannot be used: consents are accepted and wait; an operator must act',
    );
  });
  await Promise.race([prepared, waiting]);
  return {
    reasons: () => reasons,
    stop: async () => {
      stopping.abort();
      await prepared;
    },
  };
}

async function starting(start: (running: Running[]) => Promise<Omit<ServerRun, 'stop'>>): Promise<ServerRun> {
  const running: Running[] = [];
  const stop = async (): Promise<void> => {
    for (const part of running.splice(0).reverse()) await part.stop();
  };
  try {
    return { ...(await start(running)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
